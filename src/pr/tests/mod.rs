//! What `pr` says of small repositories, in memory.

mod begun;
mod carrier;
mod chain;
mod dependency;
mod ignores;
mod landing;
mod lock;
mod naming;
mod outside;
mod reach;
mod repository;
mod revision;
mod roots;
mod shapes;
mod skew;
mod standing;
mod unsaid;
mod value;
mod waits;
mod windows;
