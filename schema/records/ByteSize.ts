import { Schema, SchemaTransformation } from "effect"

const units: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 }
const pattern = /^([1-9]\d{0,8})(KiB|MiB|GiB|TiB)$/

/** A size with its unit, because a number without a unit is easily mistaken for megabytes. */
export const ByteSize = Schema.String.check(
  Schema.makeFilter((text: string) => pattern.test(text), { expected: "a size such as 512MiB or 4GiB" })
).pipe(
  Schema.decodeTo(
    Schema.Number,
    SchemaTransformation.transform<number, string>({
      decode: (text) => {
        const [, count = "", unit = ""] = pattern.exec(text) ?? []
        return Number(count) * (units[unit] ?? 1)
      },
      encode: (bytes) => `${Math.round(bytes / 1024)}KiB`
    })
  )
)
