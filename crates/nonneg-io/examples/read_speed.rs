//! `read_speed FILE [THREADS]`: how fast a matrix file is read, on one thread unless told otherwise.

use std::time::Instant;

const RUNS: usize = 3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: read_speed FILE [THREADS]")?;
    let threads: usize = args.next().map_or(Ok(1), |text| text.parse())?;
    let size = std::fs::metadata(&path)?.len() as f64 / 1e6;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    for _ in 0..RUNS {
        let (start, cpu_start) = (Instant::now(), cpu_seconds());
        let problem = pool.install(|| nonneg_io::read_problem(&path, None))?;
        let seconds = start.elapsed().as_secs_f64();
        let cpu = cpu_seconds().zip(cpu_start).map_or(f64::NAN, |(end, start)| end - start);
        let matrix = problem.matrix.view();
        let (rows, cols, nnz) = (matrix.rows(), matrix.cols(), matrix.nnz());
        let memory = matrix.bytes() as f64 / 1e6;
        println!(
            "{rows}×{cols}, {nnz} entries, {memory:.0} MB in memory: {size:.1} MB in {seconds:.3} s, {:.0} MB/s; {cpu:.2} s of CPU, {:.0} MB/s",
            size / seconds,
            size / cpu
        );
    }
    println!("peak memory {}", peak_memory().unwrap_or_default());
    Ok(())
}

/// CPU time of all threads so far, from Linux, to a hundredth: on a busy machine the clock on the wall says little.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}

/// What Linux says about this process.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")).map(|size| size.trim().to_string())
}
