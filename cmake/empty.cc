namespace mempulse {}
