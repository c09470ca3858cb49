//! Where a file can be changed, and how.

use std::collections::HashMap;
use std::ops::Range;

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, ExprBinary, Lit, ReturnType, Stmt};

use crate::Result;
use crate::returns::values;

/// A function's body in place of which a value comes back; a statement that is left out; a condition that is negated; a comparison
/// with or without equality; "and" for "or"; another operation; a number that is one higher.
pub const KINDS: &[&str] = &["body", "statement", "condition", "comparison", "logic", "arithmetic", "number"];

/// What a mutant's range becomes, part by part.
#[derive(Clone)]
pub enum Piece {
    /// Text, where `@` is the switch.
    Text(String),
    /// What the source has there.
    Source(usize, usize),
}

#[derive(Clone)]
pub struct Candidate {
    pub file: String,
    pub line: usize,
    pub function: String,
    pub kind: &'static str,
    /// How many before it in the function are alike.
    pub occurrence: usize,
    pub before: String,
    pub after: String,
    pub range: (usize, usize),
    pub pieces: Vec<Piece>,
}

/// # Errors
/// It is no Rust.
pub fn of_file(file: &str, source: &str) -> Result<Vec<Candidate>> {
    let parsed = syn::parse_file(source)?;
    let mut finder = Finder { file, source, path: Vec::new(), found: Vec::new(), seen: HashMap::new() };
    finder.visit_file(&parsed);
    Ok(finder.found)
}

struct Finder<'a> {
    file: &'a str,
    source: &'a str,
    /// Modules, types and functions around.
    path: Vec<String>,
    found: Vec<Candidate>,
    seen: HashMap<String, usize>,
}

/// What is compiled for tests, documentation, or a backend that is not tested here.
fn left_out(attributes: &[syn::Attribute]) -> bool {
    let configured =
        attributes.iter().filter(|one| one.path().is_ident("cfg")).map(|one| one.meta.to_token_stream().to_string());
    let words = ["test", "doc", "\"cuda\"", "\"mpi\"", "\"halo2\"", "not (target_arch", "not (unix)", "not (target_os"];
    attributes.iter().any(|one| one.path().is_ident("test"))
        || configured
            .into_iter()
            .any(|text| words.iter().any(|word| text.contains(word)) && !text.contains("not (feature"))
}

/// On one line, with single spaces.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a condition binds names, so that it cannot be put in parentheses.
fn binds(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) => binds(&binary.left) || binds(&binary.right),
        _ => false,
    }
}

fn other_operation(operation: &BinOp) -> Option<(&'static str, &'static str)> {
    Some(match operation {
        BinOp::Lt(_) => ("comparison", "<="),
        BinOp::Le(_) => ("comparison", "<"),
        BinOp::Gt(_) => ("comparison", ">="),
        BinOp::Ge(_) => ("comparison", ">"),
        BinOp::Eq(_) => ("comparison", "!="),
        BinOp::Ne(_) => ("comparison", "=="),
        BinOp::And(_) => ("logic", "||"),
        BinOp::Or(_) => ("logic", "&&"),
        BinOp::Add(_) => ("arithmetic", "-"),
        BinOp::Sub(_) | BinOp::Mul(_) => ("arithmetic", "+"),
        BinOp::Div(_) => ("arithmetic", "*"),
        BinOp::Rem(_) => ("arithmetic", "/"),
        BinOp::Shl(_) => ("arithmetic", ">>"),
        BinOp::Shr(_) => ("arithmetic", "<<"),
        BinOp::BitAnd(_) | BinOp::BitXor(_) => ("arithmetic", "|"),
        BinOp::BitOr(_) => ("arithmetic", "&"),
        BinOp::AddAssign(_) => ("arithmetic", "-="),
        BinOp::SubAssign(_) | BinOp::MulAssign(_) => ("arithmetic", "+="),
        _ => return None,
    })
}

impl Finder<'_> {
    fn text(&self, range: &Range<usize>) -> String {
        flat(&self.source[range.clone()])
    }

    /// `line` is that of the range's begin; `before` and `after` are what the table shows.
    fn add(&mut self, kind: &'static str, range: Range<usize>, (before, after): (String, String), pieces: Vec<Piece>) {
        let function = self.path.join("::");
        if function.is_empty() {
            return;
        }
        let seen = self.seen.entry(format!("{function}\t{kind}\t{before}\t{after}")).or_default();
        let (occurrence, line) = (*seen, self.source[..range.start].lines().count().max(1));
        *seen += 1;
        let file = self.file.to_string();
        self.found.push(Candidate {
            file,
            line,
            function,
            kind,
            occurrence,
            before,
            after,
            range: (range.start, range.end),
            pieces,
        });
    }

    /// One for each value that may come back at once.
    fn add_bodies(&mut self, signature: &syn::Signature, block: &syn::Block) {
        if signature.constness.is_some() || signature.unsafety.is_some() || signature.ident == "fmt" {
            return;
        }
        let body = self.text(&block.span().byte_range());
        let inside = block.brace_token.span.open().byte_range().end;
        let returned = match &signature.output {
            ReturnType::Default => String::new(),
            ReturnType::Type(_, of) => format!(" -> {}", self.text(&of.span().byte_range())),
        };
        for value in values(&signature.output) {
            let same = [format!("{{ {value} }}"), "{}".into(), "{ }".into()];
            if !same.contains(&body) {
                let text =
                    Piece::Text(format!(" if @ {{ return{}{value}; }}", if value.is_empty() { "" } else { " " }));
                let names =
                    (format!("fn {}{returned}", signature.ident), format!("return {value}").trim_end().to_string());
                self.add("body", inside..inside, names, vec![text]);
            }
        }
    }

    fn in_function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        if signature.constness.is_some() || signature.unsafety.is_some() {
            return;
        }
        self.path.push(signature.ident.to_string());
        self.add_bodies(signature, block);
        self.visit_block(block);
        self.path.pop();
    }

    fn add_binary(&mut self, binary: &ExprBinary) {
        let Some((kind, other)) = other_operation(&binary.op) else { return };
        if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) && (binds(&binary.left) || binds(&binary.right)) {
            return;
        }
        let (left, right) = (binary.left.span().byte_range(), binary.right.span().byte_range());
        let operation = self.text(&binary.op.span().byte_range());
        let (left_text, right_text) = (self.text(&left), self.text(&right));
        let names = (format!("{left_text} {operation} {right_text}"), format!("{left_text} {other} {right_text}"));
        // An assignment is a statement, whose left side stands without parentheses.
        let assigns = other.len() == 2 && other.ends_with('=') && kind == "arithmetic";
        let (open, close) = if assigns { ("", "") } else { ("(", ")") };
        let text = |text: String| Piece::Text(text);
        let pieces = vec![
            text(format!("({}if @ {{ {open}", if assigns { "{" } else { "" })),
            Piece::Source(left.start, left.end),
            text(format!("{close} {other} {open}")),
            Piece::Source(right.start, right.end),
            text(format!("{close} }} else {{ {open}")),
            Piece::Source(left.start, left.end),
            text(format!("{close} {operation} {open}")),
            Piece::Source(right.start, right.end),
            text(format!("{close} }}{})", if assigns { "}" } else { "" })),
        ];
        self.add(kind, binary.span().byte_range(), names, pieces);
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !left_out(&item.attrs) {
            self.in_function(&item.sig, &item.block);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !left_out(&item.attrs) {
            self.in_function(&item.sig, &item.block);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let (Some(block), false) = (&item.default, left_out(&item.attrs)) {
            self.in_function(&item.sig, block);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if left_out(&item.attrs) {
            return;
        }
        let of = self.text(&item.self_ty.span().byte_range());
        let name = match &item.trait_ {
            Some((_, path, _)) => format!("{} for {of}", self.text(&path.span().byte_range())),
            None => of,
        };
        self.path.push(name);
        visit::visit_item_impl(self, item);
        self.path.pop();
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.path.push(item.ident.to_string());
        visit::visit_item_trait(self, item);
        self.path.pop();
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !left_out(&item.attrs) {
            self.path.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.path.pop();
        }
    }

    // What is computed when this is compiled has no switch, and types and patterns have no values.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
    // What it promises holds for what is written there alone.
    fn visit_expr_unsafe(&mut self, _: &'ast syn::ExprUnsafe) {}

    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        self.visit_expr(&closure.body);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if !left_out(&local.attrs) {
            visit::visit_local(self, local);
        }
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if let Stmt::Expr(expression, end) = statement {
            let mut inner = expression;
            while let Expr::Try(of) = inner {
                inner = &of.expr;
            }
            let assigns = |binary: &ExprBinary| {
                matches!(
                    binary.op,
                    BinOp::AddAssign(_) | BinOp::SubAssign(_) | BinOp::MulAssign(_) | BinOp::BitOrAssign(_)
                )
            };
            let droppable = match inner {
                Expr::Binary(binary) => end.is_some() && assigns(binary),
                Expr::MethodCall(_) | Expr::Call(_) | Expr::Assign(_) | Expr::Unsafe(_) => end.is_some(),
                _ => false,
            };
            let range = statement.span().byte_range();
            if droppable && !self.source[range.clone()].starts_with('#') {
                let pieces = vec![
                    Piece::Text("if !@ { ".into()),
                    Piece::Source(range.start, range.end),
                    Piece::Text(" }".into()),
                ];
                let names = (self.text(&range), "left out".into());
                self.add("statement", range, names, pieces);
            }
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        let equality = |binary: &ExprBinary| matches!(binary.op, BinOp::Eq(_) | BinOp::Ne(_));
        let said = matches!(&*branch.cond, Expr::Binary(binary) if equality(binary));
        if !binds(&branch.cond) && !said {
            let range = branch.cond.span().byte_range();
            let names = (format!("if {}", self.text(&range)), format!("if !({})", self.text(&range)));
            let pieces =
                vec![Piece::Text("(".into()), Piece::Source(range.start, range.end), Piece::Text(") != @".into())];
            self.add("condition", range, names, pieces);
        }
        visit::visit_expr_if(self, branch);
    }

    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        self.add_binary(binary);
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_lit(&mut self, literal: &'ast syn::ExprLit) {
        let Lit::Int(number) = &literal.lit else { return };
        let (range, suffix) = (number.span().byte_range(), number.suffix());
        let Some(next) = number.base10_parse::<u128>().ok().and_then(|value| value.checked_add(1)) else { return };
        let (before, after) = (self.text(&range), format!("{next}{suffix}"));
        let pieces = vec![Piece::Text(format!("(if @ {{ {after} }} else {{ {before} }})"))];
        self.add("number", range, (before, after), pieces);
    }
}
