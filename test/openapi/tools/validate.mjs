// Judges a description by two of the validators, and prints what they found.
import { readFileSync } from "node:fs"
import SwaggerParser from "@apidevtools/swagger-parser"
import { Validator } from "@seriousme/openapi-schema-validator"

const document = () => JSON.parse(readFileSync(process.argv[2], "utf8"))

const { errors, valid } = await new Validator().validate(document())
const swagger = await SwaggerParser.validate(document()).then(
  () => "valid",
  (error) => String(error)
)
process.stdout.write(`${JSON.stringify({ seriousme: valid ? "valid" : errors, swagger })}\n`)
