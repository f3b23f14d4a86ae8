//! Documents and words.

use nonneg::{CsrMatrix, Result};

use super::plant::{apply, sparse_x};
use super::{Generated, Random};

/// tf-idf of documents (rows) over words (columns) that follow Zipf's law; rows have norm 1, b holds labels ±1.
///
/// A document has `density · cols` distinct words on average. The labels are the sign of Ax, about its median, for a
/// planted sparse x, with 5 % of them flipped.
pub fn text(rows: usize, cols: usize, density: f64, random: &mut Random) -> Result<Generated> {
    let zipf = Zipf::new(cols);
    let mean_words = density * cols as f64;
    let expected = (1.01 * rows as f64 * mean_words) as usize;
    let (mut row_ptr, mut col_idx, mut values) =
        (vec![0], Vec::<u32>::with_capacity(expected), Vec::<f64>::with_capacity(expected));
    let mut documents_with = vec![0u32; cols];
    let mut last_document = vec![usize::MAX; cols]; // a word was seen in this document already?
    let mut tokens: Vec<u32> = Vec::new();
    for document in 0..rows {
        let words = (mean_words * random.between(0.4, 1.6)).round().clamp(1.0, cols as f64) as usize;
        let mut distinct = 0;
        tokens.clear();
        while distinct < words && tokens.len() < 8 * words + 16 {
            let word = zipf.draw(random);
            tokens.push(word as u32);
            if last_document[word] != document {
                last_document[word] = document;
                documents_with[word] += 1;
                distinct += 1;
            }
        }
        tokens.sort_unstable();
        for same in tokens.chunk_by(|a, b| a == b) {
            col_idx.push(same[0]);
            values.push(same.len() as f64);
        }
        row_ptr.push(values.len());
    }

    let idf = |word: u32| ((1.0 + rows as f64) / (1.0 + f64::from(documents_with[word as usize]))).ln() + 1.0;
    for row in row_ptr.windows(2) {
        let (words, counts) = (&col_idx[row[0]..row[1]], &mut values[row[0]..row[1]]);
        counts.iter_mut().zip(words).for_each(|(v, &word)| *v *= idf(word));
        let norm = counts.iter().map(|v| v * v).sum::<f64>().sqrt();
        counts.iter_mut().for_each(|v| *v /= norm);
    }
    // Columns are what solvers want; the rows are dropped before the labels are made.
    let matrix = CsrMatrix::new(rows, cols, row_ptr, col_idx, values)?.view().to_csc().into();
    let x = sparse_x(cols, 0.05, random);
    let score = apply(&matrix, &x);
    let mut sorted = score.clone();
    sorted.sort_by(f64::total_cmp);
    let median = sorted[rows / 2];
    let label = |score: f64, flip: bool| if (score >= median) != flip { 1.0 } else { -1.0 };
    let rhs = score.into_iter().map(|score| label(score, random.uniform() < 0.05)).collect();
    Ok(Generated { matrix, rhs })
}

/// Word k (from 0) with probability proportional to 1/(k + 2.7): Zipf and Mandelbrot.
struct Zipf {
    cumulative: Vec<f64>,
}

impl Zipf {
    fn new(words: usize) -> Self {
        let mut total = 0.0;
        let weight = |k: usize| {
            total += 1.0 / (k as f64 + 2.7);
            total
        };
        Self { cumulative: (0..words).map(weight).collect() }
    }

    fn draw(&self, random: &mut Random) -> usize {
        let last = self.cumulative.len() - 1;
        let target = random.uniform() * self.cumulative[last];
        self.cumulative.partition_point(|&c| c <= target).min(last)
    }
}
