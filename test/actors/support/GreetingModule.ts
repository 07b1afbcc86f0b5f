import { Effect } from "effect"
import { Capsules } from "../../../actors/commands/capsule/Capsules.ts"
import type { CapsuleId } from "../../../schema/records/Ids.ts"

/** A module that stores a greeting in a resource and returns it as its only Output. */
export const greeting = (text: string) => ({
  "main.tf": `
    resource "terraform_data" "a" { input = "${text}" }
    output "a" { value = terraform_data.a.output }`
})

/** Returns the greeting after the last apply of a Capsule that uses this module. */
export const greetingsOf = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  return (yield* (yield* Capsules).outputs(capsuleId)).map(({ value }) => value)
})
