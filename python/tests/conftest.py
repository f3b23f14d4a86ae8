import pytest
import ways_in


@pytest.fixture
def small():
    return ways_in.small()
