"""The same work on many files: in this process, in several, or on Ray.

    job = Job("reading", inputs, make, Path("corpora"), {"gap": "6h"})
    run_job(job, choose("processes", workers=4))     → JobReport: parts that are there, and problems

A room that has something to divide offers a `Work`; nothing here knows what it does. `jobs` says
where parts lie (a folder, a store), what happens to one input inside a worker, and carries a job
out or resumes it; `engines` and `on_ray` are where workers live.
"""
