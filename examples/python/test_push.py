import unittest

from push import forced_push, is_protected


def branches(line, current="topic"):
    """The branches that `git LINE` rewrites; `?` in the line is a word that is not known."""
    words = [None if word == "?" else word for word in line.split()]
    push = forced_push(words, "/project", lambda directory: current if directory == "/project" else "elsewhere")
    return push.branches if push else None


class Pushes(unittest.TestCase):
    def test_without_force_nothing_is_rewritten(self):
        for line in ["status", "push", "push origin main", "push -o force origin main", "push -u origin main", "log push -f"]:
            self.assertIsNone(branches(line), line)

    def test_every_way_to_force_is_seen(self):
        for line in ["--force origin main", "-f origin main", "-uf origin main", "origin +main", "origin +HEAD:main",
                     "--force-with-lease=main origin main", "origin -f topic:refs/heads/main", "-f -- origin main"]:
            self.assertEqual(branches(f"push {line}"), ["main"], line)

    def test_without_a_name_it_is_the_branch_that_is_checked_out(self):
        self.assertEqual(branches("push -f"), ["topic"])
        self.assertEqual(branches("push -f origin HEAD"), ["topic"])
        self.assertEqual(branches("-C ../other push -f"), ["elsewhere"])

    def test_what_cannot_be_known_is_told_apart(self):
        for line in ["push -f origin ?", "--git-dir /x push -f", "push --mirror origin", "push -f --all", "push -f origin :"]:
            self.assertEqual(branches(line), [None], line)

    def test_a_tag_is_no_branch(self):
        self.assertIsNone(branches("push -f origin refs/tags/v1"))

    def test_a_star_stands_for_anything(self):
        self.assertTrue(is_protected("release/1.0", ["main", "release/*"]))
        self.assertFalse(is_protected("maintenance", ["main", "release/*", "."]))


if __name__ == "__main__":
    unittest.main()
