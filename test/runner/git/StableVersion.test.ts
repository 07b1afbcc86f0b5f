import { describe, expect, test } from "bun:test"
import { Result } from "effect"
import { newestStableVersion } from "../../../runner/git/StableVersion.ts"

const pick = (...tags: ReadonlyArray<string>) =>
  Result.match(
    newestStableVersion(tags.map((tag) => ({ name: `refs/tags/${tag}`, oid: `o:${tag}`, commit: `c:${tag}` }))),
    {
      onSuccess: (found) => `${found.tag} = ${found.version} @ ${found.commit}`,
      onFailure: (error) => error._tag
    }
  )

describe("Stable versions (G17)", () => {
  for (const [tags, expected] of [
    [["v1.2.3", "1.2.3"], "GitVersionAmbiguous"],
    [["v1.2.3", "1.2.3", "v1.2.4"], "v1.2.4 = 1.2.4 @ c:v1.2.4"],
    [["v1.2.4", "1.2.4", "v1.2.3"], "GitVersionAmbiguous"],
    [["v01.2.3", "v1.2.2"], "v1.2.2 = 1.2.2 @ c:v1.2.2"],
    [["v1.9.0", "v1.10.0"], "v1.10.0 = 1.10.0 @ c:v1.10.0"],
    [["2.0.0", "v1.99.99"], "2.0.0 = 2.0.0 @ c:2.0.0"],
    [
      ["v9007199254740993.0.0", "v9007199254740992.9.9"],
      "v9007199254740993.0.0 = 9007199254740993.0.0 @ c:v9007199254740993.0.0"
    ],
    [
      [`v1${"0".repeat(30)}.0.1`, `v1${"0".repeat(30)}.0.2`, "v1.0.0"],
      `v1${"0".repeat(30)}.0.2 = 1${"0".repeat(30)}.0.2 @ c:v1${"0".repeat(30)}.0.2`
    ],
    [[`v${"9".repeat(256)}.0.0`, "v1.0.0"], "v1.0.0 = 1.0.0 @ c:v1.0.0"],
    [["v0.0.0"], "v0.0.0 = 0.0.0 @ c:v0.0.0"],
    [
      [
        "v1.0.0-rc.1",
        "v1.0.0+build",
        "V1.0.0",
        "1.0",
        "v1.0.0.0",
        "release-1.0.0",
        "x/v3.0.0",
        "v1.0.0\n",
        "v\u0661.0.0",
        "vv1.0.0"
      ],
      "GitNoStableVersion"
    ],
    [[], "GitNoStableVersion"]
  ] as const)
    test(`the newest stable version of ${JSON.stringify(tags).slice(0, 90)} is ${expected}`, () =>
      expect(pick(...tags)).toBe(expected))

  test("a branch is not treated as a tag", () =>
    expect(Result.isFailure(newestStableVersion([{ name: "refs/heads/v1.0.0", oid: "a", commit: "a" }]))).toBe(true))

  test("100,000 tags", () => {
    const tags = Array.from({ length: 100_000 }, (_, index) => `v${(index * 7919) % 100_003}.0.0`)
    const newest = Math.max(...tags.map((tag) => Number(tag.slice(1).split(".")[0])))
    expect(pick(...tags)).toBe(`v${newest}.0.0 = ${newest}.0.0 @ c:v${newest}.0.0`)
  })
})
