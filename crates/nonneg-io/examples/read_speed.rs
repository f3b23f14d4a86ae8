//! `read_speed FILE [THREADS [RUNS]]`: how fast a matrix file is read, on one thread unless told otherwise.

use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: read_speed FILE [THREADS [RUNS]]")?;
    let threads: usize = args.next().map_or(Ok(1), |text| text.parse())?;
    let runs: usize = args.next().map_or(Ok(3), |text| text.parse())?;
    let size = std::fs::metadata(&path)?.len() as f64 / 1e6;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let mut times = vec![];
    for _ in 0..runs {
        let (start, cpu_start) = (Instant::now(), cpu_seconds());
        let problem = pool.install(|| nonneg_io::read_problem(&path, None))?;
        let seconds = start.elapsed().as_secs_f64();
        let cpu = cpu_seconds().zip(cpu_start).map_or(f64::NAN, |(end, start)| end - start);
        times.push((seconds, cpu));
        let matrix = problem.matrix.view();
        let (rows, cols, nnz) = (matrix.rows(), matrix.cols(), matrix.nnz());
        let memory = matrix.bytes() as f64 / 1e6;
        println!(
            "{rows}×{cols}, {nnz} entries, {memory:.0} MB in memory: {size:.1} MB in {seconds:.3} s, {:.0} MB/s; {cpu:.2} s of CPU, {:.0} MB/s",
            size / seconds,
            size / cpu
        );
    }
    let rate = |pick: fn(&(f64, f64)) -> f64| {
        let mut sorted: Vec<f64> = times.iter().map(pick).collect();
        sorted.sort_by(f64::total_cmp);
        format!("{:.0} best, {:.0} median", size / sorted[0], size / sorted[runs / 2])
    };
    println!("MB/s by the clock: {}; by CPU time: {}", rate(|time| time.0), rate(|time| time.1));
    println!("peak memory {}", peak_memory().unwrap_or_default());
    Ok(())
}

/// CPU time of all threads so far, from Linux: on a busy machine the clock on the wall says little.
fn cpu_seconds() -> Option<f64> {
    let mut nanoseconds = 0.0;
    for thread in std::fs::read_dir("/proc/self/task").ok()? {
        let stat = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        nanoseconds += stat.split(' ').next()?.parse::<f64>().ok()?;
    }
    Some(nanoseconds / 1e9)
}

/// What Linux says about this process.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")).map(|size| size.trim().to_string())
}
