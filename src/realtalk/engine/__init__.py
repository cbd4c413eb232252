"""The same work on many files: in this process, in several, or on Ray.

    job = Job("reading", inputs, make, Path("corpora"), {"gap": "6h"})
    run_job(job, engine("processes", workers=4))     → JobReport: parts that are there, and problems

`jobs` has the words, `running` carries a job out and resumes it, `working` is what happens to one
input inside a worker, `inline`, `processes` and `on_ray` are where workers live. `exports` reads
many exports with it, `describing` counts stored corpora part by part, `labelling` labels turns,
`checks` and `redactions` check and redact many corpora.
"""
