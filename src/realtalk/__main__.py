"""`python -m realtalk` is the command `realtalk`, where its script is not on the path."""

from realtalk.cli.main import main

if __name__ == "__main__":
    main()
