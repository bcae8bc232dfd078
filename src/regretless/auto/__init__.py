"""Training without choices: one search over one shared cache."""

from regretless.auto.candidates import Candidate
from regretless.auto.committee import Committee
from regretless.auto.search import AutoResult, auto
from regretless.auto.verdict import Verdict

__all__ = ["AutoResult", "Candidate", "Committee", "Verdict", "auto"]
