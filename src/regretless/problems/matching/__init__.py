"""Diverse bipartite matching on the Cora citation network."""
