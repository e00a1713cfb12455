// Nothing: the object that owns the precompiled header of all files that include libtorch.
