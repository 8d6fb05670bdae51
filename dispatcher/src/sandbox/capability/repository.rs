//! `repository`: facts from `.git`.

use crate::project;
use crate::repository as git;
use crate::sandbox::bindings::gate::portcullis::gate::repository;
use crate::sandbox::instance::Call;

impl repository::Host for Call {
    fn checkout_at(&mut self, directory: String) -> Option<repository::Checkout> {
        self.note("checkout-at", &directory);
        git::checkout_at(&project::absolute(&directory, &self.shared.root)).map(Into::into)
    }

    fn worktrees(&mut self) -> Vec<repository::Checkout> {
        self.note("worktrees", "");
        git::worktrees(&self.shared.root).into_iter().map(Into::into).collect()
    }
}

impl From<git::Checkout> for repository::Checkout {
    fn from(checkout: git::Checkout) -> Self {
        let text = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
        Self {
            root: text(checkout.root),
            git_directory: text(checkout.git_directory),
            common_directory: text(checkout.common_directory),
            branch: checkout.branch,
            head: checkout.head,
        }
    }
}
