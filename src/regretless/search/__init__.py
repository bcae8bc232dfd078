"""Training without choices: one search over one shared cache."""

from regretless.search.automatic import auto
from regretless.search.candidates import Candidate
from regretless.search.committee import Committee
from regretless.search.final_model import AutoResult
from regretless.search.train_method import Trained, train
from regretless.search.verdict import Verdict

__all__ = ["AutoResult", "Candidate", "Committee", "Trained", "Verdict", "auto", "train"]
