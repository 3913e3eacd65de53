//! What `pr` says of small repositories, in memory.

mod repository;
mod skew;
mod standing;
