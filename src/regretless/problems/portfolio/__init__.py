"""The portfolio of most return within a risk: data, convex program and loader."""

from regretless.problems.portfolio.load import load_portfolio, portfolio_program

__all__ = ["load_portfolio", "portfolio_program"]
