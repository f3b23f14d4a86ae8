//! Loops over whole columns. Each is compiled twice, as written and for AVX2, and chosen when it runs: the same operations
//! in the same order, so the same bits on every machine. (A fused multiply-add would not be: none is used.)

use super::{BoundedSum, Extremes, add_exactly, ask_ahead_of, positive_sum};
use crate::matrix::Value;

/// Partial sums of a dot product: enough to keep the adders busy.
const LANES: usize = 16;

/// Joins partial sums, each half with the other: four additions deep.
#[inline(always)]
fn halved(mut sums: [f64; LANES]) -> f64 {
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            sums[lane] += sums[lane + width];
        }
    }
    sums[0]
}

/// Defines a kernel and its twin for wider vectors.
macro_rules! wide {
    ($($(#[$doc:meta])* fn $name:ident$(<$t:ident: Value>)?($($arg:ident: $kind:ty),*) $(-> $result:ty)? $body:block)*) => {$(
        $(#[$doc])*
        pub fn $name$(<$t: Value>)?($($arg: $kind),*) $(-> $result)? {
            #[inline(always)]
            fn plain$(<$t: Value>)?($($arg: $kind),*) $(-> $result)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn wide$(<$t: Value>)?($($arg: $kind),*) $(-> $result)? {
                    plain($($arg),*)
                }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the machine has just said that it knows these instructions.
                    return unsafe { wide($($arg),*) };
                }
            }
            plain($($arg),*)
        }
    )*};
}
pub(crate) use wide;

/// y += Σ αₖaₖ, four vectors at a time.
pub fn add_columns<'a, T: Value>(terms: impl IntoIterator<Item = (f64, &'a [T])>, y: &mut [f64]) {
    let (mut four, mut count) = ([(0.0, &[][..]); 4], 0);
    for term in terms {
        four[count] = term;
        count += 1;
        if count == 4 {
            axpy_four(four.map(|(alpha, _)| alpha), four.map(|(_, vector)| vector), y);
            count = 0;
        }
    }
    four[..count].iter().for_each(|&(alpha, vector)| axpy(alpha, vector, y));
}

/// How large and how small the values of a column are. Most columns have no zeros, and nothing below: one look is enough.
pub fn extremes<T: Value>(values: &[T]) -> Extremes {
    let (largest, lowest) = largest_and_lowest(values);
    let smallest = if lowest > 0.0 { lowest } else { smallest_but_zero(values) };
    Extremes { largest, smallest, negative: lowest < 0.0 }
}

wide! {
    /// aᵀy.
    fn dense_dot<T: Value>(values: &[T], y: &[f64]) -> f64 {
        assert_eq!(values.len(), y.len());
        let mut sums = [0.0f64; LANES];
        let (head, tail) = values.as_chunks::<LANES>();
        let (y_head, y_tail) = y.as_chunks::<LANES>();
        for (a, b) in head.iter().zip(y_head) {
            ask_ahead_of(a);
            for lane in 0..LANES {
                sums[lane] += a[lane].to_f64() * b[lane];
            }
        }
        let rest: f64 = tail.iter().zip(y_tail).map(|(a, b)| a.to_f64() * b).sum();
        halved(sums) + rest
    }

    /// aₖᵀy for four vectors: y is read once.
    fn dot_four<T: Value>(vectors: [&[T]; 4], y: &[f64]) -> [f64; 4] {
        const LANES: usize = 4;
        let len = y.len();
        let vectors = vectors.map(|vector| vector[..len].as_chunks::<LANES>());
        let (y_head, y_tail) = y.as_chunks::<LANES>();
        let mut sums = [[0.0f64; LANES]; 4];
        for (i, y) in y_head.iter().enumerate() {
            for (sums, vector) in sums.iter_mut().zip(&vectors) {
                for lane in 0..LANES {
                    sums[lane] += vector.0[i][lane].to_f64() * y[lane];
                }
            }
        }
        let rest = |tail: &[T]| tail.iter().zip(y_tail).map(|(a, b)| a.to_f64() * b).sum::<f64>();
        std::array::from_fn(|k| ((sums[k][0] + sums[k][2]) + (sums[k][1] + sums[k][3])) + rest(vectors[k].1))
    }

    /// y += α(σa).
    fn dense_add<T: Value>(values: &[T], scale: f64, alpha: f64, y: &mut [f64]) {
        assert_eq!(values.len(), y.len());
        for (y, values) in y.chunks_mut(LANES).zip(values.chunks(LANES)) {
            ask_ahead_of(values);
            for (y, a) in y.iter_mut().zip(values) {
                *y += alpha * (a.to_f64() * scale);
            }
        }
    }

    /// y += αa.
    fn axpy<T: Value>(alpha: f64, values: &[T], y: &mut [f64]) {
        assert_eq!(values.len(), y.len());
        for (y, a) in y.iter_mut().zip(values) {
            *y += alpha * a.to_f64();
        }
    }

    /// y += Σ αₖaₖ over four vectors: y is read and written once.
    fn axpy_four<T: Value>(alpha: [f64; 4], vectors: [&[T]; 4], y: &mut [f64]) {
        let len = y.len();
        let [a, b, c, d] = vectors.map(|vector| &vector[..len]);
        for i in 0..len {
            let ab = alpha[0] * a[i].to_f64() + alpha[1] * b[i].to_f64();
            let cd = alpha[2] * c[i].to_f64() + alpha[3] * d[i].to_f64();
            y[i] += ab + cd;
        }
    }

    /// Σ (aσ)y with its error, σ a power of two. The value is that of [`dense_positive_dot`] in the same bits, times σ: which of
    /// the two is called depends on σ, and must not show. Eight additions a lane and four to join the lanes, or fifteen at the end:
    /// no more than [`bounded_sum`] makes.
    fn dense_bounded_dot<T: Value>(values: &[T], scale: f64, y: &[f64]) -> BoundedSum {
        const CHUNK: usize = 8 * LANES;
        assert_eq!(values.len(), y.len());
        let (mut high, mut low, mut magnitude) = (0.0f64, 0.0f64, 0.0f64);
        let mut tail = (values, y);
        while !tail.0.is_empty() {
            let whole = tail.0.len().min(CHUNK) / LANES * LANES;
            let ((part, rest), (y_part, y_rest)) = (tail.0.split_at(whole), tail.1.split_at(whole));
            let (mut sums, mut sizes) = ([0.0f64; LANES], [0.0f64; LANES]);
            for (a, y) in part.as_chunks::<LANES>().0.iter().zip(y_part.as_chunks::<LANES>().0) {
                for lane in 0..LANES {
                    sums[lane] += (a[lane].to_f64() * scale) * y[lane];
                }
                for lane in 0..LANES {
                    sizes[lane] += ((a[lane].to_f64() * scale) * y[lane]).abs();
                }
            }
            low += add_exactly(&mut high, halved(sums));
            magnitude += halved(sizes);
            tail = (rest, y_rest);
            if rest.len() < LANES {
                let term = |(a, y): (&T, &f64)| (a.to_f64() * scale) * y;
                low += add_exactly(&mut high, rest.iter().zip(y_rest).map(term).sum());
                magnitude += rest.iter().zip(y_rest).map(term).map(f64::abs).sum::<f64>();
                break;
            }
        }
        // Plain addition of magnitudes may round down, by far less than this factor.
        BoundedSum { value: high + low, magnitude: magnitude * (1.0 + 1e-6) }
    }

    /// Σ ay with its error, where neither a nor y has a negative entry: [`dense_bounded_dot`] without sizes.
    fn dense_positive_dot<T: Value>(values: &[T], y: &[f64]) -> BoundedSum {
        const CHUNK: usize = 8 * LANES;
        assert_eq!(values.len(), y.len());
        let ((chunks, tail), (y_chunks, y_tail)) = (values.as_chunks::<CHUNK>(), y.as_chunks::<CHUNK>());
        let (mut high, mut low) = (0.0f64, 0.0f64);
        for (a, y) in chunks.iter().zip(y_chunks) {
            ask_ahead_of(a);
            let mut sums = [0.0f64; LANES];
            for start in (0..CHUNK).step_by(LANES) {
                for lane in 0..LANES {
                    sums[lane] += a[start + lane].to_f64() * y[start + lane];
                }
            }
            low += add_exactly(&mut high, halved(sums));
        }
        let ((groups, tail), (y_groups, y_tail)) = (tail.as_chunks::<LANES>(), y_tail.as_chunks::<LANES>());
        let mut sums = [0.0f64; LANES];
        for (a, y) in groups.iter().zip(y_groups) {
            for lane in 0..LANES {
                sums[lane] += a[lane].to_f64() * y[lane];
            }
        }
        low += add_exactly(&mut high, halved(sums));
        low += add_exactly(&mut high, tail.iter().zip(y_tail).map(|(a, y)| a.to_f64() * y).sum());
        BoundedSum::of_positive(high + low)
    }

    /// Σ (aσ)² with its error.
    fn bounded_square<T: Value>(values: &[T], scale: f64) -> BoundedSum {
        positive_sum(values.len(), |k| {
            // SAFETY: k < len in `positive_sum`.
            let value = unsafe { values.get_unchecked(k).to_f64() } * scale;
            value * value
        })
    }

    /// ‖a − b‖² with its error.
    fn bounded_distance<T: Value>(a: &[T], b: &[f64]) -> BoundedSum {
        assert_eq!(a.len(), b.len());
        positive_sum(a.len(), |k| {
            // SAFETY: k < len in `positive_sum`, and b is as long.
            let difference = unsafe { a.get_unchecked(k).to_f64() - *b.get_unchecked(k) };
            difference * difference
        })
    }

    /// The largest |a|, or 0, and the least a, or ∞: a loop for each over what the first-level cache holds, since the compiler
    /// makes nothing of both in one.
    fn largest_and_lowest<T: Value>(values: &[T]) -> (f64, f64) {
        const PART: usize = 1024;
        let (mut largest, mut lowest) = ([0.0f64; LANES], [f64::INFINITY; LANES]);
        let (chunks, rest) = values.as_chunks::<LANES>();
        for chunks in chunks.chunks(PART / LANES) {
            for chunk in chunks {
                ask_ahead_of(chunk);
                for lane in 0..LANES {
                    let size = chunk[lane].to_f64().abs();
                    largest[lane] = if size > largest[lane] { size } else { largest[lane] };
                }
            }
            for chunk in chunks {
                for lane in 0..LANES {
                    let a = chunk[lane].to_f64();
                    lowest[lane] = if a < lowest[lane] { a } else { lowest[lane] };
                }
            }
        }
        let (sizes, rest) = (rest.iter().map(|a| a.to_f64().abs()), rest.iter().map(|a| a.to_f64()));
        (largest.into_iter().chain(sizes).fold(0.0, f64::max), lowest.into_iter().chain(rest).fold(f64::INFINITY, f64::min))
    }

    /// The least |a| that is not 0, or ∞.
    fn smallest_but_zero<T: Value>(values: &[T]) -> f64 {
        let mut smallest = [f64::INFINITY; LANES];
        let (chunks, rest) = values.as_chunks::<LANES>();
        let but_zero = |a: T| if a.to_f64() == 0.0 { f64::INFINITY } else { a.to_f64().abs() };
        for chunk in chunks {
            for lane in 0..LANES {
                let size = but_zero(chunk[lane]);
                smallest[lane] = if size < smallest[lane] { size } else { smallest[lane] };
            }
        }
        rest.iter().map(|&a| but_zero(a)).chain(smallest).fold(f64::INFINITY, f64::min)
    }

    /// Writes aσ over `out`.
    fn write_scaled<T: Value>(values: &[T], scale: f64, out: &mut [f64]) {
        assert_eq!(values.len(), out.len());
        for (out, a) in out.iter_mut().zip(values) {
            *out = a.to_f64() * scale;
        }
    }

    /// Zero instead of what is smaller than `least`.
    fn clear_below(least: f64, values: &mut [f64]) {
        for value in values {
            *value = if value.abs() < least { 0.0 } else { *value };
        }
    }

    /// Rotates (a, b) by an angle: (ca + sb, cb − sa).
    fn rotate<T: Value>(cos: f64, sin: f64, a: &mut [T], b: &mut [T]) {
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter_mut().zip(b) {
            let (u, v) = (a.to_f64(), b.to_f64());
            *a = T::from_f64(cos * u + sin * v);
            *b = T::from_f64(cos * v - sin * u);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bounded_sum;
    use super::super::tests::numbers;
    use super::*;

    #[test]
    fn the_dense_dot_is_a_dot() {
        for len in [0, 1, 4, 9, 15, 16, 17, 130] {
            let (values, y) = (numbers(len, 3), numbers(len, 8));
            let plain: f64 = values.iter().zip(&y).map(|(a, b)| a * b).sum();
            assert!((dense_dot(&values, &y) - plain).abs() <= 1e-14 * (1 + len) as f64);
        }
    }

    /// In f32 and f64 alike, against loops in the order that the kernels promise.
    fn kernels_match_plain_loops<T: Value>() {
        for len in [0, 1, 3, 8, 16, 31, 64, 128, 129, 300] {
            let vector = |seed: u64| numbers(len, seed).into_iter().map(T::from_f64).collect::<Vec<T>>();
            let (a, y) = (vector(3), numbers(len, 8));
            let mut out = y.clone();
            dense_add(&a, 0.25, 0.3, &mut out);
            assert!((0..len).all(|i| out[i] == y[i] + 0.3 * (a[i].to_f64() * 0.25)));

            out.clone_from(&y);
            axpy(-0.7, &a, &mut out);
            assert!((0..len).all(|i| out[i] == y[i] + -0.7 * a[i].to_f64()));

            let vectors: Vec<Vec<T>> = (10..14).map(vector).collect();
            let alpha = [0.1, -0.2, 0.3, 0.4];
            out.clone_from(&y);
            axpy_four(alpha, [&vectors[0], &vectors[1], &vectors[2], &vectors[3]], &mut out);
            let term = |k: usize, i: usize| alpha[k] * vectors[k][i].to_f64();
            assert!((0..len).all(|i| out[i] == y[i] + ((term(0, i) + term(1, i)) + (term(2, i) + term(3, i)))));

            let mut all = y.clone();
            add_columns((0..4).chain(1..3).map(|k| (alpha[k], &vectors[k][..])), &mut all);
            axpy(alpha[1], &vectors[1], &mut out);
            axpy(alpha[2], &vectors[2], &mut out);
            assert_eq!(all, out);

            let sum = |k: usize| (0..len).map(|i| vectors[k][i].to_f64() * y[i]).sum::<f64>();
            let dots = dot_four([&vectors[0], &vectors[1], &vectors[2], &vectors[3]], &y);
            assert!((0..4).all(|k| (dots[k] - sum(k)).abs() <= 1e-14 * (1 + len) as f64));

            let (dot, twin) = (dense_bounded_dot(&a, 2.0, &y), bounded_sum(len, |k| (a[k].to_f64() * 2.0) * y[k]));
            assert!((dot.value - twin.value).abs() <= twin.error());
            assert!((dot.magnitude - twin.magnitude).abs() <= 1e-14 * twin.magnitude);
            // Of terms that are not negative, the sum tells the magnitude.
            let same = |found: BoundedSum, twin: BoundedSum| {
                found.value.to_bits() == twin.value.to_bits() && found.magnitude >= twin.magnitude * (1.0 - 1e-9)
            };
            let square = bounded_sum(len, |k| (a[k].to_f64() * 2.0) * (a[k].to_f64() * 2.0));
            assert!(same(bounded_square(&a, 2.0), square));
            let distance = bounded_sum(len, |k| (a[k].to_f64() - y[k]) * (a[k].to_f64() - y[k]));
            assert!(same(bounded_distance(&a, &y), distance));

            let (sizes, positive): (Vec<f64>, Vec<T>) =
                (y.iter().map(|v| v.abs()).collect(), a.iter().map(|v| T::from_f64(v.to_f64().abs())).collect());
            let (dot, twin) = (dense_positive_dot(&positive, &sizes), bounded_sum(len, |k| positive[k].to_f64() * sizes[k]));
            assert!((dot.value - twin.value).abs() <= twin.error() && dot.magnitude >= twin.magnitude * (1.0 - 1e-9));
            assert_eq!(dense_bounded_dot(&positive, 0.25, &sizes).value.to_bits(), (0.25 * dot.value).to_bits());

            let mut a = a;
            if len > 8 {
                (a[2], a[7]) = (T::from_f64(0.0), T::from_f64(-0.0));
            }
            let found = extremes(&a);
            let sizes = || a.iter().map(|v| v.to_f64().abs());
            assert_eq!(found.largest, sizes().fold(0.0, f64::max));
            assert_eq!(found.smallest, sizes().filter(|&v| v > 0.0).fold(f64::INFINITY, f64::min));
            assert_eq!(found.negative, a.iter().any(|v| v.to_f64() < 0.0));

            write_scaled(&a, 4.0, &mut out);
            assert!((0..len).all(|i| out[i] == a[i].to_f64() * 4.0));

            let mut cleared = y.clone();
            clear_below(0.3, &mut cleared);
            assert!((0..len).all(|i| cleared[i] == if y[i].abs() < 0.3 { 0.0 } else { y[i] }));

            let (mut u, mut v) = (y.clone(), numbers(len, 4));
            let before = (u.clone(), v.clone());
            rotate(0.6, 0.8, &mut u, &mut v);
            assert!((0..len).all(|i| u[i] == 0.6 * before.0[i] + 0.8 * before.1[i]));
            assert!((0..len).all(|i| v[i] == 0.6 * before.1[i] - 0.8 * before.0[i]));
        }
    }

    #[test]
    fn the_extremes_of_zeros_are_those_of_nothing() {
        for values in [&[][..], &[0.0], &[0.0, -0.0, 0.0, -0.0, -0.0]] {
            assert_eq!(extremes(values), Extremes { largest: 0.0, smallest: f64::INFINITY, negative: false });
        }
        let found = extremes(&[0.0, 5e-324, -0.0, 1e308, -3.0]);
        assert_eq!(found, Extremes { largest: 1e308, smallest: 5e-324, negative: true });
    }

    #[test]
    fn wide_kernels_match_plain_loops_bit_for_bit() {
        kernels_match_plain_loops::<f64>();
        kernels_match_plain_loops::<f32>();
    }
}
