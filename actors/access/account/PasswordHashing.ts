import { Context } from "effect"

/**
 * The cost of a hash.
 *
 * - `memoryCost`: memory in KiB
 * - `timeCost`: passes over that memory
 */
export interface PasswordCost {
  readonly memoryCost: number
  readonly timeCost: number
}

/**
 * Cost of new hashes: OWASP's minimum for argon2id. A hash needs 19 MiB, so even many simultaneous sign-ins remain affordable.
 */
export const PasswordCost = Context.Reference<PasswordCost>("svc/actors/access/account/PasswordCost", {
  defaultValue: () => ({ memoryCost: 19_456, timeCost: 2 })
})

/** Returns the prefix of hashes with this cost. */
export const prefixAt = ({ memoryCost, timeCost }: PasswordCost) => `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=1$`

/** Argon2id in PHC format. Both implementations verify each other's hashes. */
export interface PasswordHashing {
  readonly hash: (text: string, cost: PasswordCost) => Promise<string>
  readonly verify: (text: string, hash: string) => Promise<boolean>
}

/** Uses Bun's built-in hashing, which needs no installation and works in a compiled binary. */
export const bunHashing: PasswordHashing = {
  hash: (text, { memoryCost, timeCost }) => Bun.password.hash(text, { algorithm: "argon2id", memoryCost, timeCost }),
  verify: (text, hash) => Bun.password.verify(text, hash)
}

// Imported lazily because the compiled binary does not bundle it. Needed on Node, which has no built-in argon2 before version 24.
const library = () => import("@node-rs/argon2")

/** Uses a library on other runtimes. This library also hashes outside the main thread, and its default is Argon2id. */
export const libraryHashing: PasswordHashing = {
  hash: async (text, { memoryCost, timeCost }) =>
    (await library()).hash(text, { memoryCost, timeCost, parallelism: 1 }),
  verify: async (text, hash) => (await library()).verify(hash, text)
}

export const passwordHashing: PasswordHashing = typeof Bun === "undefined" ? libraryHashing : bunHashing
