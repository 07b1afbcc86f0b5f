import { Command } from "effect/cli"
import { adminCommand } from "./AdminCommands.ts"
import { agentCommand } from "./agent/AgentCommand.ts"
import { auditCommand } from "./audit/AuditCommands.ts"
import { backupCommand, restoreCommand } from "./BackupCommands.ts"
import { linkCommand, manifestCommand, optionsCommand } from "./CheckCommands.ts"
import { clientGroups } from "./ClientRoot.ts"
import { compactCommand } from "./CompactCommand.ts"
import { demoCommand } from "./demo/DemoCommand.ts"
import { doctorCommand } from "./doctor/DoctorCommand.ts"
import { licensesCommand } from "./LicensesCommand.ts"
import { migrateCommand } from "./MigrateCommand.ts"
import { moveCommand } from "./MoveCommand.ts"
import { policyCommand } from "./PolicyCommands.ts"
import { pruneCommand } from "./PruneCommand.ts"
import { scanCommand } from "./ScanCommand.ts"
import { serveCommand } from "./ServeCommand.ts"
import { vendorCommand } from "./vendor/VendorCommand.ts"
import { versionCommand } from "./VersionCommand.ts"

/** The complete command line. */
export const svc = Command.make("svc").pipe(
  Command.withDescription("Git-driven control plane for plain OpenTofu/Terraform modules"),
  Command.withSubcommands([
    ...clientGroups,
    {
      group: "Module authors",
      commands: [scanCommand, vendorCommand, policyCommand, manifestCommand, optionsCommand, linkCommand]
    },
    {
      group: "Servers",
      commands: [
        serveCommand,
        demoCommand,
        doctorCommand,
        agentCommand,
        adminCommand,
        auditCommand,
        migrateCommand,
        moveCommand,
        backupCommand,
        restoreCommand,
        pruneCommand,
        compactCommand
      ]
    },
    { group: "About", commands: [versionCommand, licensesCommand] }
  ])
)
