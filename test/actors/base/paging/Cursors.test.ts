import { afterAll, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { Cursors } from "../../../../actors/base/paging/Cursors.ts"
import { suite } from "../../../support/Effect.ts"
import { testVault } from "../../../support/Vault.ts"

const it = suite(Cursors.layer.pipe(Layer.provideMerge(testVault)))
afterAll(it.dispose)

const mine = { route: "a.list", subject: "usr_1", filter: ["x", undefined] }

it.live("a cursor yields its anchor only in the list it was issued for", () =>
  Effect.gen(function* () {
    const cursors = yield* Cursors
    const cursor = yield* cursors.encode(mine, ["2026-01-01T00:00:00.000Z", "id_é"])
    expect(yield* cursors.decode(mine, cursor, 2)).toEqual(["2026-01-01T00:00:00.000Z", "id_é"])
    const others = [
      { ...mine, route: "b.list" },
      { ...mine, subject: "usr_2" },
      { ...mine, filter: ["y", undefined] },
      { ...mine, filter: [undefined, "x"] },
      { ...mine, filter: ["x"] },
      { route: mine.route, subject: mine.subject }
    ]
    for (const other of others) {
      expect((yield* Effect.flip(cursors.decode(other, cursor, 2))).code).toBe("invalid_request")
    }
    expect((yield* Effect.flip(cursors.decode(mine, cursor, 1))).code).toBe("invalid_request")
  })
)

it.live("svc rejects a modified cursor", () =>
  Effect.gen(function* () {
    const cursors = yield* Cursors
    const cursor = yield* cursors.encode(mine, ["a", "b"])
    const [payload, digest] = cursor.split(".")
    const forged = `${Buffer.from(JSON.stringify(["a", "c"])).toString("base64url")}.${digest}`
    const wrong = [
      "",
      ".",
      "..",
      `${payload}`,
      `${payload}.`,
      `.${digest}`,
      `${cursor}.x`,
      `${cursor}=`,
      cursor.slice(1),
      forged
    ]
    for (const text of [...wrong, "%00", "A".repeat(65_536), JSON.stringify(["a", "b"])]) {
      expect((yield* Effect.flip(cursors.decode(mine, text, 2))).code).toBe("invalid_request")
    }
    for (let at = 0; at < cursor.length; at++) {
      const changed = cursor.slice(0, at) + (cursor[at] === "A" ? "B" : "A") + cursor.slice(at + 1)
      expect((yield* Effect.result(cursors.decode(mine, changed, 2)))._tag).toBe("Failure")
    }
  })
)
