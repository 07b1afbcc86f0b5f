import { describe, expect, test } from "bun:test"
import { Result } from "effect"
import { impliedProviderSource, parseProviderSource } from "../../../runner/scan/ProviderSource.ts"
import { parseVersionConstraint } from "../../../runner/scan/VersionConstraint.ts"

const address = (text: string) =>
  Result.match(parseProviderSource(text), { onSuccess: ({ address }) => address, onFailure: () => "invalid" })

describe("parseProviderSource", () => {
  test("each provider source has a single canonical form", () => {
    expect(address("hashicorp/aws")).toBe("hashicorp/aws")
    expect(address("HashiCorp/AWS")).toBe("hashicorp/aws")
    expect(address("aws")).toBe("hashicorp/aws")
    expect(address("registry.terraform.io/hashicorp/aws")).toBe("hashicorp/aws")
    expect(address("Registry.OpenTofu.org/hashicorp/aws")).toBe("hashicorp/aws")
    expect(address("Registry.Example.org:8443/acme/x_y")).toBe("registry.example.org:8443/acme/x_y")
    expect(address("localhost/acme/x")).toBe("localhost/acme/x")
  })

  test("parsing rejects an invalid provider address", () => {
    const invalid = [
      "",
      "/",
      "a/",
      "/a",
      "a/b/c/d",
      "a b/c",
      "-a/b",
      "a-/b",
      "a--b/c",
      "a/b.c",
      "ho st/a/b",
      "host:0/a/b",
      "host:/a/b",
      "é/b",
      "acme/terraform-provider-x",
      "../a",
      "https://x/y"
    ]
    for (const text of invalid) expect([text, address(text)]).toEqual([text, "invalid"])
  })

  test("parsing recognises the builtin provider in both spellings", () => {
    for (const read of [parseProviderSource("terraform.io/builtin/terraform"), impliedProviderSource("terraform")]) {
      expect(Result.getOrThrow(read)).toEqual({ address: "terraform.io/builtin/terraform", builtin: true })
    }
    expect(Result.getOrThrow(parseProviderSource("hashicorp/terraform")).builtin).toBe(false)
  })
})

describe("parseVersionConstraint", () => {
  const parts = (text: string) => Result.getOrElse(parseVersionConstraint(text), () => "invalid")

  test("a version constraint is split and normalised", () => {
    expect(parts("~> 5.0,>=4 , != v4.5.1")).toEqual(["~> 5.0", ">= 4", "!= 4.5.1"])
    expect(parts("1.2.3-beta.1+build")).toEqual(["1.2.3-beta.1+build"])
    expect(parts(" ")).toBe("invalid")
  })

  test("parsing rejects an invalid version constraint", () => {
    for (const text of ["x", ">", "1,,2", "=> 1", "1.x", "1 2", "~~> 1", `>= ${"1".repeat(600)}`]) {
      expect([text, parts(text)]).toEqual([text, "invalid"])
    }
  })
})
