//! Implements operators of generic types, for values and for references.

/// Implements the operator `$trait` of `$left` and `$right`, and its assigning form, by the function `$how`. The
/// generic parameters of the types are in brackets.
macro_rules! operator {
    ([$($generics:tt)*] $left:ty, $right:ty, $trait:ident, $function:ident, $assign_trait:ident, $assign:ident, $how:expr) => {
        impl<$($generics)*> std::ops::$trait<&$right> for $left {
            type Output = Self;

            fn $function(self, other: &$right) -> Self {
                let how: fn(&$left, &$right) -> $left = $how;
                how(&self, other)
            }
        }

        impl<$($generics)*> std::ops::$trait<$right> for $left {
            type Output = Self;

            fn $function(self, other: $right) -> Self {
                std::ops::$trait::$function(self, &other)
            }
        }

        impl<$($generics)*> std::ops::$assign_trait<&$right> for $left {
            fn $assign(&mut self, other: &$right) {
                *self = std::ops::$trait::$function(*self, other);
            }
        }

        impl<$($generics)*> std::ops::$assign_trait<$right> for $left {
            fn $assign(&mut self, other: $right) {
                std::ops::$assign_trait::$assign(self, &other);
            }
        }
    };
}

/// Implements `$trait` (a sum or product) of `$type` by `$how` of two elements, from `$start` on. The generic parameters
/// of the type are in brackets.
macro_rules! fold {
    ([$($generics:tt)*] $type:ty, $trait:ident, $function:ident, $start:expr, $how:expr) => {
        impl<$($generics)*> std::iter::$trait for $type {
            fn $function<I: Iterator<Item = Self>>(elements: I) -> Self {
                elements.fold($start, $how)
            }
        }

        impl<'element, $($generics)*> std::iter::$trait<&'element Self> for $type {
            fn $function<I: Iterator<Item = &'element Self>>(elements: I) -> Self {
                elements.copied().fold($start, $how)
            }
        }
    };
}

pub(super) use {fold, operator};
