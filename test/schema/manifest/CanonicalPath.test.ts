import { expect, test } from "bun:test"
import { Schema } from "effect"
import { isCanonicalRelativePath } from "../../../schema/manifest/CanonicalPath.ts"
import { RelativeFolder, RelativePath } from "../../../schema/manifest/RelativePath.ts"
import { RelativePath as ModulePath } from "../../../schema/records/Primitives.ts"

const isFile = Schema.is(RelativePath)
const isFolder = Schema.is(RelativeFolder)
const isModulePath = Schema.is(ModulePath)

test.each([
  "main.tf",
  "modules/app",
  "a b/c",
  "...",
  "a/..b/c..",
  ".well-known/svc.json",
  "日本",
  "é",
  "a%20b",
  "x".repeat(1024),
  "😀".repeat(1024)
])("the path %p has one spelling", (path) => {
  expect([isCanonicalRelativePath(path), isFile(path), isFolder(path), isModulePath(path)]).toEqual([
    true,
    true,
    true,
    true
  ])
})

test.each([
  "",
  "..",
  "./a",
  "a/.",
  "../a",
  "a/../b",
  "a/..",
  "/a",
  "a/",
  "a//b",
  "a\\b",
  "C:/a",
  "c:a",
  " a",
  "a\tb",
  "a\nb",
  "a\u0000",
  "a\u007f",
  "x".repeat(1025)
])("the path %p is refused in a manifest and in a request", (path) => {
  expect([isCanonicalRelativePath(path), isFile(path), isFolder(path), isModulePath(path)]).toEqual([
    false,
    false,
    false,
    false
  ])
})

test("the root is valid as a folder and as a module, but not as a file", () => {
  expect([isFile("."), isFolder("."), isModulePath(".")]).toEqual([false, true, true])
})

test.each(["a ", "a\u00a0", "a\u202eb", "e\u0301", "a%2fb", "a%2Eb", "a%5cb", "a%00"])(
  "the path %p is possible in a commit, but not in a manifest",
  (path) => {
    expect([isCanonicalRelativePath(path), isFile(path), isFolder(path), isModulePath(path)]).toEqual([
      false,
      false,
      false,
      true
    ])
  }
)
