"""Degrees of freedom of a sum of variances, each with its own."""

from collections.abc import Sequence


def degrees_of_freedom(variances: Sequence[float], freedoms: Sequence[float]) -> float:
    """As many as a single variance of the sum's size and uncertainty would have.

    Satterthwaite, An Approximate Distribution of Estimates of Variance Components, Biometrics Bulletin 2,
    1946; for two means: Welch, The Generalization of "Student's" Problem when Several Different Population
    Variances are Involved, Biometrika 34, 1947.

    Args:
        variances: of each part of the sum, none below 0, shape (k,).
        freedoms: of each variance; one of 0 freedom is left out.

    Returns:
        Above 0 if one of them is; where all variances are 0, the sum of the freedoms.
    """
    squares = sum(
        variance**2 / freedom for variance, freedom in zip(variances, freedoms, strict=True) if freedom
    )
    return sum(variances) ** 2 / squares if squares else float(sum(freedoms))
