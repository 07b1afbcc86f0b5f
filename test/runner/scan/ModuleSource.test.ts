import { describe, expect, test } from "bun:test"
import { classifyModuleSource, resolveLocalSource, shownModuleSource } from "../../../runner/scan/ModuleSource.ts"

const codeOf = (source: string) => {
  const read = classifyModuleSource(source)
  return read.kind === "local" ? "local" : read.code.replace("module_source_", "")
}

describe("classifyModuleSource (G14)", () => {
  test("each kind of module source has a separate code", () => {
    const kinds: ReadonlyArray<readonly [string, string]> = [
      ["./a", "local"],
      ["../a//b", "local"],
      ["hashicorp/consul/aws", "registry"],
      ["app.example.org:8080/acme/vpc/aws//modules/x", "registry"],
      ["github.com/acme/vpc", "git"],
      ["git@github.com:acme/vpc.git", "git"],
      ["git::https://example.org/vpc.git?ref=v1", "git"],
      ["git::ssh://git@example.org/vpc.git", "git"],
      ["ssh://git@example.org/vpc", "git"],
      ["me@host:vpc", "git"],
      ["bitbucket.org/acme/vpc", "git"],
      ["hg::http://example.org/vpc.hg", "mercurial"],
      ["https://example.org/vpc.zip", "http"],
      ["http::https://example.org/vpc", "http"],
      ["s3::https://s3.amazonaws.com/bucket/vpc.zip", "s3"],
      ["bucket.s3.amazonaws.com/vpc.zip", "s3"],
      ["gcs::https://www.googleapis.com/storage/v1/x/vpc.zip", "gcs"],
      ["www.googleapis.com/storage/v1/x/vpc.zip", "gcs"],
      ["oci://example.org/vpc", "oci"],
      ["/etc/modules", "absolute"],
      ["~/modules", "absolute"],
      ["C:\\modules", "absolute"],
      ["file:///modules", "absolute"],
      ["", "unknown"],
      [".", "unknown"],
      ["..", "unknown"],
      ["modules/vpc", "unknown"],
      [".\\modules", "unknown"]
    ]
    for (const [source, code] of kinds) expect([source, codeOf(source)]).toEqual([source, code])
  })
})

describe("shownModuleSource", () => {
  test("module sources are shown without user information and query values", () => {
    const secrets = [
      "git::https://user:hunter2@example.org/vpc.git?ref=v1",
      "https://hunter2@example.org/vpc.zip",
      "https://example.org/vpc.zip?token=hunter2",
      "s3::https://s3.amazonaws.com/b/v.zip?aws_access_key_secret=hunter2",
      "user:hunter2@example.org/vpc",
      "git::hunter2@example.org:vpc",
      "https://user:a//hunter2@example.org/vpc",
      "https://user:hunter2@b@example.org/vpc"
    ]
    for (const source of secrets) expect(shownModuleSource(source)).not.toContain("hunter2")
    expect(shownModuleSource("git@github.com:acme/vpc.git")).toBe("git@github.com:acme/vpc.git")
    expect(shownModuleSource("hashicorp/consul/aws")).toBe("hashicorp/consul/aws")
  })
})

describe("resolveLocalSource", () => {
  test("a local module source must remain inside the tree", () => {
    expect(resolveLocalSource(".", "./a/../b//c/")).toBe("b/c")
    expect(resolveLocalSource("m/x", "../y")).toBe("m/y")
    expect(resolveLocalSource("m/x", "../..")).toBe(".")
    expect(resolveLocalSource("m/x", "../../..")).toBeUndefined()
    expect(resolveLocalSource("m", "../../m/a")).toBeUndefined()
    expect(resolveLocalSource(".", "./")).toBe(".")
  })
})
