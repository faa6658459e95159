#!/usr/bin/env python3
"""check-suites.py FILE.json...: reports of `ane-run bench --suite` have what is
needed to compare machines, and figures that follow from each other."""
import json
import sys

ROW = {"row", "form", "outcome", "kernels", "kernel", "weight_bytes", "flop",
       "load_ms", "min_ms", "median_ms", "p95_ms", "p99_ms", "tflops", "error",
       "error_to_cpu", "error_of_cpu", "tolerance", "published"}


def near(a, b):
    return abs(a - b) <= 1e-9 * abs(b)


for path in sys.argv[1:]:
    report = json.load(open(path))
    assert report["benchmark"] == 1 and report["anec"][0].isdigit()
    assert {"chip", "system", "backend", "mil_version"} <= set(report)
    assert ("path" in report) == (report["backend"] == "ane")
    rows = 0
    for suite in report["suites"]:
        assert suite["warmup"] == 1 and suite["iterations"] == 2
        first = {}
        for row in suite["rows"]:
            rows += 1
            assert ROW <= set(row), ROW - set(row)
            assert row["outcome"] == "measured"
            assert 0 < row["error"] <= row["tolerance"]
            assert (0 < row["min_ms"] <= row["median_ms"] <= row["p95_ms"]
                    <= row["p99_ms"])
            kernel = row["kernel"]
            flop = (2 * kernel["outputs"] * kernel["inputs"] * kernel["height"]
                    * kernel["width"] * kernel["depth"] * row["kernels"])
            assert row["flop"] == flop
            # 10^12 a second, of which 100 % is the peak, and not 100,000 %.
            tflops = flop / (row["median_ms"] * 1e-3) / 1e12
            assert near(row["tflops"], tflops)
            if "peak_tflops" in report:
                assert report["peak_tflops"] == 18.6 and report["peak_source"]
                assert near(row["percent_of_peak"], tflops / 18.6 * 100)
            else:
                assert "percent_of_peak" not in row
            if "gflops_per_mb" in row:
                assert near(row["gflops_per_mb"], tflops * 1e3
                            / (row["weight_bytes"] * 1e-6))
            base = first.setdefault(row["row"], row["median_ms"])
            if "faster_by" in row:
                assert near(row["faster_by"], base / row["median_ms"])
    assert rows
    print(path, rows)
