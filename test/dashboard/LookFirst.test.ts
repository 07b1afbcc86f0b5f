import { describe, expect, test } from "bun:test"
import { firstLooks } from "../../src/dashboard/screens/run/LookFirst.ts"
import { change, planChanges } from "../browser/support/records/PlanChanges.ts"

const policy = (statement: object) => JSON.stringify({ Statement: [statement] })
const widening = (name: string, before: unknown, after: unknown, address = "aws_thing.a") =>
  firstLooks([change(address, ["update"], [{ name, before: before as string, after: after as string }])], []).map(
    (look) => ("found" in look ? [look.reason, look.found] : look.reason)
  )

describe("First reads", () => {
  test("the review lists a plan's losses first, then new exposure", () => {
    const found = firstLooks(
      [...planChanges, change("aws_sqs_queue.old", ["forget"], [])],
      [
        {
          name: "token",
          actions: ["update"],
          sensitive: false,
          publication: { change: "published", reason: "mark_removed" }
        },
        { name: "fresh", actions: ["create"], sensitive: false, publication: { change: "published", reason: "new" } }
      ]
    )
    expect(found.map((look) => [look.reason, look.name])).toEqual([
      ["removal", "aws_cloudwatch_log_group.legacy"],
      ["removal", "module.data.aws_db_instance.main"],
      ["removal", "aws_sqs_queue.old"],
      ["output", "token"]
    ])
  })

  test("the review highlights widened permissions, but not unchanged or denied permissions", () => {
    const narrow = policy({ Effect: "Allow", Action: "s3:GetObject", Resource: "arn:a" })
    const wide = policy({ Effect: "Allow", Action: "*", Resource: "arn:a" })
    expect(widening("policy", narrow, wide)).toEqual([["wider", '"*"']])
    expect(widening("policy", undefined, wide)).toEqual([["wider", '"*"']])
    expect(widening("policy", wide, policy({ Effect: "Allow", Action: "*", Resource: "arn:b" }))).toEqual([])
    expect(widening("policy", narrow, policy({ Effect: "Allow", Action: "iam:*", Resource: "arn:a" }))).toEqual([
      ["wider", '"iam:*"']
    ])
    expect(widening("policy", narrow, policy({ Effect: "Deny", Action: "*", Resource: "arn:a" }))).toEqual([])
    expect(widening("policy", policy({ Effect: "Deny", Action: "*" }), wide)).toEqual([["wider", '"*"']])
    const long = "x".repeat(70_000)
    expect(widening("policy", policy({ Sid: long }), policy({ Sid: long, Action: "*" }))).toEqual([["wider", '"*"']])
    expect(widening("policy", policy({ Sid: long, Action: "*" }), policy({ Sid: long, Action: "*" }))).toEqual([])
    expect(widening("title", "a", "5 * 5")).toEqual([])
  })

  test("the review highlights access for everybody, but not network traffic to everywhere", () => {
    expect(widening("cidr_blocks", ["10.0.0.0/8"], ["10.0.0.0/8", "0.0.0.0/0"])).toEqual([
      ["public", "cidr_blocks 0.0.0.0/0"]
    ])
    expect(widening("acl", "private", "public-read")).toEqual([["public", "acl public-read"]])
    expect(widening("publicly_accessible", false, true)).toEqual([["public", "publicly_accessible true"]])
    expect(widening("block_public_policy", true, false)).toEqual([["public", "block_public_policy false"]])
    expect(widening("egress", [], [{ cidr_blocks: ["0.0.0.0/0"] }])).toEqual([])
    expect(widening("destination_cidr_block", undefined, "0.0.0.0/0")).toEqual([])
    expect(widening("cidr_ipv4", undefined, "0.0.0.0/0", "aws_vpc_security_group_egress_rule.a")).toEqual([])
  })
})
