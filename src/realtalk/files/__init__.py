"""Files on this machine: private and atomic writes, caches, downloads, progress."""
