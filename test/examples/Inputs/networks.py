"""The networks of bench/training with their parameters by the names that the .dyn files have.

Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
"""


def by_own_names(network):
    """Of a network that has those names itself."""
    return dict(network.named_parameters())


def of_tagger(network):
    """Of a tagger.Tagger: torch.nn.LSTM has names of its own."""
    weights = {name: getattr(network, name) for name in "ECO"}
    for name in ("spell", "context"):
        for direction, suffix in (("fwd", ""), ("bwd", "_reverse")):
            for ours, theirs in (("W", "weight_ih_l0"), ("U", "weight_hh_l0"), ("b", "bias_ih_l0")):
                weights[f"{name}.{direction}.{ours}"] = getattr(getattr(network, name), theirs + suffix)
    return weights
