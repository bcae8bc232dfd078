"""The table of public files: addresses, checksums, and the data sets that they make up."""

from __future__ import annotations

from dataclasses import dataclass

_SEMO = "https://github.com/JayMan91/aaai_predit_then_optimize/raw/master/"
_ICON = "https://github.com/CryoCardiogram/ijcai-cache-loss-pno/raw/master/data/"
_CORA = "https://github.com/kimiyoung/planetoid/raw/master/data/"


@dataclass(frozen=True)
class PublicFile:
    """A public file: its address, the SHA-256 of its content, and its length in bytes."""

    url: str
    sha256: str
    bytes: int


@dataclass(frozen=True)
class DatasetRow:
    """A data set: its files, what they are, whom to cite, and the problems that need it."""

    files: tuple[str, ...]
    what: str
    cite: str
    problems: tuple[str, ...]


FILES: dict[str, PublicFile] = {
    "Data.npz": PublicFile(
        _SEMO + "Data.npz", "7b512a53d6568af4a5c9b4d600086dc7acf49903d67bd434a05ce55bd828e07e", 3031300
    ),
    "prices2013.dat": PublicFile(
        _SEMO + "prices2013.dat", "c8086b6b026c1edce01bea265392e42ce46245e9f7f5e88d871232e8c6176faf", 4455611
    ),
    "energy-1.txt": PublicFile(
        _ICON + "energy01.txt", "770617778a56cf167d5ef389462e7ede95ac4a456eaa2cc6d3f68b60f62593d8", 288
    ),
    "energy-2.txt": PublicFile(
        _ICON + "energy02.txt", "63d4ddf681780fa72ae1bcfd663f9838feefde9abb7dda91d8a4ba3b7410ca2c", 386
    ),
    "energy-3.txt": PublicFile(
        _ICON + "energy03.txt", "0a73bbf82b49cb948f62e5ff1f64832f30f390d546a1d0ac91b752e4c5af9225", 548
    ),
    "ind.cora.x": PublicFile(
        _CORA + "ind.cora.x", "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab", 22119
    ),
    "ind.cora.y": PublicFile(
        _CORA + "ind.cora.y", "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1", 4054
    ),
    "ind.cora.tx": PublicFile(
        _CORA + "ind.cora.tx", "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a", 148025
    ),
    "ind.cora.ty": PublicFile(
        _CORA + "ind.cora.ty", "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad", 28135
    ),
    "ind.cora.allx": PublicFile(
        _CORA + "ind.cora.allx", "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543", 257305
    ),
    "ind.cora.ally": PublicFile(
        _CORA + "ind.cora.ally", "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71", 47959
    ),
    "ind.cora.graph": PublicFile(
        _CORA + "ind.cora.graph", "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d", 59847
    ),
    "ind.cora.test.index": PublicFile(
        _CORA + "ind.cora.test.index", "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875", 5000
    ),
}

DATASETS: dict[str, DatasetRow] = {
    "semo": DatasetRow(
        ("Data.npz",),
        "half-hourly prices of the Irish market times item weights, with features",
        "Ifrim, O'Sullivan, Simonis 2012; Mandi et al. 2020",
        ("knapsack-60", "knapsack-120", "knapsack-180"),
    ),
    "prices": DatasetRow(
        ("prices2013.dat",),
        "the raw series of the Irish market: calendar, forecasts and prices",
        "Ifrim, O'Sullivan, Simonis 2012",
        ("energy-1", "energy-2", "energy-3"),
    ),
    "energy": DatasetRow(
        ("energy-1.txt", "energy-2.txt", "energy-3.txt"),
        "scheduling instances of the ICON challenge",
        "Simonis, O'Sullivan, Mehta, Hurley, De Cauwer 2014 (CSPLib prob059)",
        ("energy-1", "energy-2", "energy-3"),
    ),
    "cora": DatasetRow(
        tuple(name for name in FILES if name.startswith("ind.cora.")),
        "the Cora citation network: words, fields and links of 2708 papers",
        "Sen et al. 2008; Yang, Cohen, Salakhutdinov 2016",
        ("matching-10", "matching-25", "matching-50"),
    ),
}
