import { Option, Schema } from "effect"

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))

/** Returns all distinct strings and keys in a JSON document. */
export const textsIn = (document: string): Option.Option<ReadonlySet<string>> =>
  Option.map(decodeJson(document), (root) => {
    const found = new Set<string>()
    const open: Array<Schema.Json> = [root]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (typeof next === "string") found.add(next)
      else if (Array.isArray(next)) for (const member of next) open.push(member)
      else if (typeof next === "object" && next !== null) {
        for (const [key, member] of Object.entries(next)) {
          found.add(key)
          open.push(member)
        }
      }
    }
    return found
  })
