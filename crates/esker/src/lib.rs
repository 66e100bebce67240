//! Esker: the facade, where the store and the algorithms meet.
