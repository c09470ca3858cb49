pragma circom 2.1.5;

include "@semaphore-protocol/circuits/src/semaphore.circom";

// A member of a group of up to 2^20 signals, without saying who it is: Semaphore's own circuit.
component main {public [message, scope]} = Semaphore(20);
