//! What `pr` says of small repositories, in memory.

mod outside;
mod repository;
mod skew;
mod standing;
mod windows;
