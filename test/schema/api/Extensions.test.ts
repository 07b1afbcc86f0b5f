import { expect, test } from "bun:test"
import { extensions } from "../../../schema/api/Extensions.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"

/** Groups of which the specification describes at least a part. */
const specified = [
  "discovery",
  "accountTokens",
  "workspaces",
  "members",
  "installPlans",
  "revisionPlans",
  "capsules",
  "sources",
  "runs",
  "connections",
  "dashboard"
]

test("every group of endpoints belongs to the specification or to a listed family, and the lists hold nothing else", () => {
  const beyond = Object.values(SvcApi.groups).filter(({ identifier }) => !specified.includes(identifier))
  const routes = beyond.flatMap(({ endpoints }) =>
    Object.values(endpoints).map(({ method, path }) => `${method} ${path}`)
  )
  expect(extensions.flatMap(({ endpoints }) => endpoints).toSorted()).toEqual(routes.toSorted())
  expect(new Set(extensions.map(({ name }) => name)).size).toBe(extensions.length)
})
