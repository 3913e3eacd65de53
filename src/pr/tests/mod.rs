//! What `pr` says of small repositories, in memory.

mod begun;
mod outside;
mod repository;
mod skew;
mod standing;
mod windows;
