"""Discussions as trees: a post, and comments that answer it or one another."""

from realtalk.threads.tree import Comment, Post, Thread

__all__ = ["Comment", "Post", "Thread"]
