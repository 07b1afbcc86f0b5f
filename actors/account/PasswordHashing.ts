/** Argon2id in PHC format. Each implementation verifies the other's hashes. */
export interface PasswordHashing {
  readonly hash: (text: string) => Promise<string>
  readonly verify: (text: string, hash: string) => Promise<boolean>
}

// OWASP's minimum for argon2id: 19 MiB per hash limits the memory used when many people sign in at once.
const memoryCost = 19_456
const timeCost = 2

/** The prefix of a hash at the current cost. */
export const currentPrefix = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=1$`

/** Built into Bun: needs no installation, and is part of a compiled binary. */
export const bunHashing: PasswordHashing = {
  hash: (text) => Bun.password.hash(text, { algorithm: "argon2id", memoryCost, timeCost }),
  verify: (text, hash) => Bun.password.verify(text, hash)
}

// Node has no argon2 before version 24. A compiled binary leaves the library out.
const library = () => import("@node-rs/argon2")

/** On other runtimes: a library, which also hashes off the main thread. Argon2id is its default. */
export const libraryHashing: PasswordHashing = {
  hash: async (text) => (await library()).hash(text, { memoryCost, timeCost, parallelism: 1 }),
  verify: async (text, hash) => (await library()).verify(hash, text)
}

/** The implementation for this runtime. */
export const passwordHashing: PasswordHashing = typeof Bun === "undefined" ? libraryHashing : bunHashing
