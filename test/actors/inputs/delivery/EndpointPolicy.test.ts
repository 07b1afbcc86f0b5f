import { describe, expect, test } from "bun:test"
import { Result, Schema } from "effect"
import {
  assignedEndpoint,
  EndpointAssignment,
  type EndpointOwner
} from "../../../../actors/inputs/delivery/EndpointPolicy.ts"

const entry = { workspace: "acme", capsule: "web", environment: "prod", url: "https://web.example.com" }
const owner: EndpointOwner = { workspace: "acme", project: "main", capsule: "web", environment: "prod", homonyms: 0 }

const verdict = (endpoints: ReadonlyArray<EndpointAssignment>, of: Partial<EndpointOwner> = {}) =>
  Result.match(assignedEndpoint(endpoints, { ...owner, ...of }), {
    onSuccess: ({ url }) => url,
    onFailure: ({ code }) => code
  })

describe("an endpoint", () => {
  test.each([
    ["is not invented without an assignment", [], {}, "endpoint_not_available"],
    ["is the assigned one", [entry], {}, "https://web.example.com"],
    ["of another Workspace does not count", [entry], { workspace: "other" }, "endpoint_not_available"],
    ["of another environment does not count", [entry], { environment: "test" }, "endpoint_not_available"],
    ["of another name does not count", [entry], { capsule: "web2" }, "endpoint_not_available"],
    ["of another Project does not count", [{ ...entry, project: "side" }], {}, "endpoint_not_available"],
    ["assigned twice is ambiguous", [entry, { ...entry, url: "https://b.example.com" }], {}, "endpoint_ambiguous"],
    ["with a homonym needs its Project", [entry], { homonyms: 1 }, "endpoint_ambiguous"],
    [
      "with its Project stands beside homonyms",
      [{ ...entry, project: "main" }],
      { homonyms: 1 },
      "https://web.example.com"
    ]
  ] as const)("%s", (_, endpoints, of, expected) => {
    expect(verdict(endpoints, of)).toBe(expected)
  })

  const isAssignment = Schema.is(EndpointAssignment)
  test.each([
    [["/"], true],
    [["/signed-out", "/de/signed-out"], true],
    [["signed-out"], false],
    [["//evil.example.com"], false],
    [["/a/../b"], false],
    [["/a?b=c"], false],
    [["/a#b"], false],
    [["/*", "/a b"], false],
    [Array.from({ length: 9 }, (_, at) => `/${at}`), false]
  ] as const)("an endpoint with the sign-out paths %j is accepted: %p", (postLogoutPaths, accepted) => {
    expect(isAssignment({ ...entry, postLogoutPaths })).toBe(accepted)
  })

  test.each([
    ["https://web.example.com", true],
    ["https://web.example.com:8443", true],
    ["https://web.example.com/base", true],
    ["https://web.example.com/", false],
    ["http://web.example.com", false],
    ["https://WEB.example.com", false],
    ["https://web.example.com:443", false],
    ["https://u:p@web.example.com", false],
    ["https://web.example.com/a?b", false],
    ["https://web.example.com/a#b", false],
    ["https://web.example.com/a/../b", false],
    ["javascript:alert(1)", false]
  ] as const)("an endpoint with the URL %s is accepted: %p", (url, accepted) => {
    expect(isAssignment({ ...entry, url })).toBe(accepted)
  })
})
