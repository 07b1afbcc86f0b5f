import { Result } from "effect"
import type { ConfigValue } from "./ConfigValue.ts"
import { identifierAt } from "./Identifier.ts"
import { type Cursor, skipComment } from "./HclExpression.ts"

/** The type constraint of a variable. `list` and `set` accept the same defaults, so both are `sequence`. */
export type TypeConstraint =
  | { readonly kind: "string" | "number" | "bool" | "any" }
  | { readonly kind: "sequence" | "map"; readonly element: TypeConstraint }
  | { readonly kind: "tuple"; readonly elements: ReadonlyArray<TypeConstraint> }
  | { readonly kind: "object"; readonly attributes: ReadonlyMap<string, ObjectAttribute> }

interface ObjectAttribute {
  readonly type: TypeConstraint
  readonly optional: boolean
}

const any: TypeConstraint = { kind: "any" }
const maxDepth = 100

/** Parses a type. The first error moves the cursor to the end, so that every method returns immediately. */
class TypeReader {
  readonly #cursor: Cursor
  #fault: string | undefined

  constructor(text: string) {
    this.#cursor = { text, at: 0, line: 1 }
  }

  #fail(message: string): TypeConstraint {
    this.#fault ??= message
    this.#cursor.at = this.#cursor.text.length
    return any
  }

  #peek(): string | undefined {
    const cursor = this.#cursor
    for (;;) {
      while (/\s/.test(cursor.text[cursor.at] ?? "")) cursor.at++
      if (skipComment(cursor) !== "skipped") return cursor.text[cursor.at]
    }
  }

  #accept(char: string): boolean {
    if (this.#peek() !== char) return false
    this.#cursor.at++
    return true
  }

  #expect(char: string) {
    if (!this.#accept(char)) this.#fail(`A ${char} is missing.`)
  }

  #name(): string {
    this.#peek()
    identifierAt.lastIndex = this.#cursor.at
    const name = identifierAt.exec(this.#cursor.text)?.[0]
    if (name === undefined) {
      this.#fail("A type name is missing.")
      return ""
    }
    this.#cursor.at += name.length
    return name
  }

  #type(depth: number): TypeConstraint {
    if (depth > maxDepth) return this.#fail("The type is nested too deep.")
    const name = this.#name()
    switch (name) {
      case "string":
      case "number":
      case "bool":
      case "any":
        return { kind: name }
      case "list":
      case "set":
      case "map": {
        const kind = name === "map" ? "map" : "sequence"
        // `list` or `map` alone is an old spelling of `list(any)` or `map(any)`, allowed only as the complete type.
        if (name !== "set" && depth === 0 && this.#peek() !== "(") return { kind, element: any }
        this.#expect("(")
        const element = this.#type(depth + 1)
        this.#accept(",")
        this.#expect(")")
        return { kind, element }
      }
      case "tuple":
        return { kind: "tuple", elements: this.#elements(depth) }
      case "object":
        return { kind: "object", attributes: this.#attributes(depth) }
      default:
        return this.#fail(`${JSON.stringify(name.slice(0, 50))} is not a type.`)
    }
  }

  #elements(depth: number): ReadonlyArray<TypeConstraint> {
    const elements: Array<TypeConstraint> = []
    this.#expect("(")
    this.#expect("[")
    while (this.#fault === undefined && !this.#accept("]")) {
      elements.push(this.#type(depth + 1))
      if (!this.#accept(",") && this.#peek() !== "]") this.#fail("A comma is missing between element types.")
    }
    this.#accept(",")
    this.#expect(")")
    return elements
  }

  #attributes(depth: number): ReadonlyMap<string, ObjectAttribute> {
    const attributes = new Map<string, ObjectAttribute>()
    this.#expect("(")
    this.#expect("{")
    while (this.#fault === undefined && !this.#accept("}")) {
      const name = this.#name()
      if (attributes.has(name)) this.#fail(`The attribute ${JSON.stringify(name.slice(0, 50))} is there twice.`)
      if (!this.#accept("=")) this.#expect(":")
      attributes.set(name, this.#attributeType(depth + 1))
      this.#accept(",")
    }
    this.#accept(",")
    this.#expect(")")
    return attributes
  }

  #attributeType(depth: number): ObjectAttribute {
    const optional = /optional\s*\(/y
    this.#peek()
    optional.lastIndex = this.#cursor.at
    const found = optional.exec(this.#cursor.text)?.[0]
    if (found === undefined) return { type: this.#type(depth), optional: false }
    this.#cursor.at += found.length
    const type = this.#type(depth)
    if (this.#accept(",")) this.#skipDefault()
    this.#expect(")")
    return { type, optional: true }
  }

  /** Skips a default. The parser has already accepted the expression, so its brackets and quotes are balanced. */
  #skipDefault() {
    const { text } = this.#cursor
    let open = 0
    for (let inString = false; this.#cursor.at < text.length; this.#cursor.at++) {
      const char = text[this.#cursor.at]
      if (inString) {
        if (char === "\\") this.#cursor.at++
        else if (char === '"') inString = false
      } else if (char === '"') inString = true
      else if (char === "(" || char === "[" || char === "{") open++
      else if (char === ")" || char === "]" || char === "}") {
        if (open === 0) return
        open--
      }
    }
  }

  whole(): Result.Result<TypeConstraint, string> {
    const type = this.#type(0)
    if (this.#peek() !== undefined) this.#fail("Text follows the type.")
    return this.#fault === undefined ? Result.succeed(type) : Result.fail(this.#fault)
  }
}

/** Parses the source text of a type constraint. Fails with a description of the problem. */
export const parseTypeConstraint = (text: string): Result.Result<TypeConstraint, string> => new TypeReader(text).whole()

const numeric = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** Returns true if a default can be converted to the type. A value that needs evaluation is accepted. */
export const acceptsDefault = (type: TypeConstraint, value: ConfigValue): boolean => {
  if (value.kind === "null" || value.kind === "expression") return true
  switch (type.kind) {
    case "any":
      return true
    case "string":
      return value.kind === "string" || value.kind === "number" || value.kind === "boolean"
    case "number":
      return value.kind === "number" || (value.kind === "string" && numeric.test(value.value))
    case "bool":
      return value.kind === "boolean" || (value.kind === "string" && ["true", "false", "1", "0"].includes(value.value))
    case "sequence":
      return value.kind === "array" && value.items.every((item) => acceptsDefault(type.element, item))
    case "map":
      return value.kind === "object" && [...value.entries.values()].every((item) => acceptsDefault(type.element, item))
    case "tuple":
      return (
        value.kind === "array" &&
        value.items.length === type.elements.length &&
        type.elements.every((element, index) => acceptsDefault(element, value.items[index] ?? { kind: "null" }))
      )
    case "object":
      return (
        value.kind === "object" &&
        [...type.attributes].every(([name, attribute]) => {
          const item = value.entries.get(name)
          return item === undefined ? attribute.optional : acceptsDefault(attribute.type, item)
        })
      )
  }
}
