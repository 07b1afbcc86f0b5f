import type { Finding, ReportVariable } from "../../../schema/records/CompatibilityReport.ts"
import type { OperatorBaseConfig } from "../../../schema/policy/OperatorBaseConfig.ts"
import { fits } from "./VariableRules.ts"

/** Where the operator's base configuration and the module disagree. A value of the wrong type would make every plan fail. */
export const operatorFindings = (
  base: OperatorBaseConfig | undefined,
  declared: ReadonlyArray<ReportVariable>
): ReadonlyArray<Finding> => {
  const variables = new Map(declared.map((variable) => [variable.name, variable]))
  return Object.entries(base?.variables ?? {}).flatMap(([name, value]): ReadonlyArray<Finding> => {
    const variable = variables.get(name)
    if (variable !== undefined) {
      if (fits(variable.type, value)) return []
      return [
        {
          severity: "error",
          code: "operator_variable_type",
          message: `The operator's base configuration sets the input ${name} to a value that is no ${variable.type}. Ask the operator to correct it.`
        }
      ]
    }
    // A base configuration for a whole repository may set variables that only some of its modules declare.
    if (base?.module === undefined) return []
    return [
      {
        severity: "warning",
        code: "operator_variable_unknown",
        message: `The operator's base configuration sets the input ${name}, which the module does not declare. It is not used.`
      }
    ]
  })
}
