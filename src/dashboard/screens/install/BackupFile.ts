/** A Capsule named in the readable part of a backup. */
export interface NamedCapsule {
  readonly capsuleId: string
  readonly name: string
}

const isNamed = (value: unknown): value is NamedCapsule =>
  typeof value === "object" &&
  value !== null &&
  "capsuleId" in value &&
  typeof value.capsuleId === "string" &&
  "name" in value &&
  typeof value.name === "string"

/** The Capsules in a backup file, to choose from; none for any other file, which the server refuses by name. */
export const capsulesOfFile = (text: string): ReadonlyArray<NamedCapsule> => {
  try {
    const file: unknown = JSON.parse(text)
    return typeof file === "object" && file !== null && "capsules" in file && Array.isArray(file.capsules)
      ? file.capsules.filter(isNamed)
      : []
  } catch {
    return []
  }
}
