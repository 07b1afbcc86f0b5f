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

/** The cost of new hashes: OWASP's minimum for argon2id. At 19 MiB per hash, many simultaneous sign-ins remain affordable. */
export const PasswordCost = Context.Reference<PasswordCost>("svc/actors/access/account/PasswordCost", {
  defaultValue: () => ({ memoryCost: 19_456, timeCost: 2 })
})

/** The prefix of hashes with this cost. */
export const prefixAt = ({ memoryCost, timeCost }: PasswordCost) => `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=1$`

/** Argon2id in PHC format. Both implementations verify each other's hashes. */
export interface PasswordHashing {
  readonly hash: (text: string, cost: PasswordCost) => Promise<string>
  readonly verify: (text: string, hash: string) => Promise<boolean>
}

/** Built into Bun, so it needs no installation and works in a compiled binary. */
export const bunHashing: PasswordHashing = {
  hash: (text, { memoryCost, timeCost }) => Bun.password.hash(text, { algorithm: "argon2id", memoryCost, timeCost }),
  verify: (text, hash) => Bun.password.verify(text, hash)
}

// Node has no argon2 before version 24. A compiled binary does not include the library.
const library = () => import("@node-rs/argon2")

/** The library for other runtimes, which also hashes off the main thread. Its default is Argon2id. */
export const libraryHashing: PasswordHashing = {
  hash: async (text, { memoryCost, timeCost }) =>
    (await library()).hash(text, { memoryCost, timeCost, parallelism: 1 }),
  verify: async (text, hash) => (await library()).verify(hash, text)
}

/** The implementation for this runtime. */
export const passwordHashing: PasswordHashing = typeof Bun === "undefined" ? libraryHashing : bunHashing
