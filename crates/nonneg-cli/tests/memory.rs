//! Matrices that are larger than the memory they may take.

mod common;

use common::Sandbox;

#[cfg(target_os = "linux")]
#[test]
fn a_mapped_matrix_is_solved_in_less_memory_than_it_has() {
    let sandbox = Sandbox::new();
    // 240 MB, of columns that are easy to tell apart.
    sandbox.run("generate uniform --rows 1500 --cols 20000 --seed 4 -o A.nnm").expect(0);
    let size = sandbox.path("A.nnm").metadata().unwrap().len();
    assert!(size > 230_000_000, "{size}");
    let limit = 128 << 20;
    let line = format!("solve A.nnm --quiet --tol 1e-4 --memory-limit {limit} -o x.npy --report r.json");
    sandbox.run(&line).expect(0);
    let report = sandbox.json("r.json");
    assert_eq!(report["status"], "solved");
    let peak = report["peak_memory_bytes"].as_u64().unwrap();
    assert!(peak < limit, "{peak} bytes at the peak, the limit was {limit}");
    // The same answer as with all the memory there is.
    sandbox.run("verify A.nnm x.npy --tol 1e-4 --quiet").expect(0);
}
