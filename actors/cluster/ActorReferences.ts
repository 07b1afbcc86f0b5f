import type { Context } from "effect"
import { KillPoint } from "../KillPoint.ts"
import { ExtensionScopes } from "../account/ScopeCatalog.ts"
import { AuditRetention } from "../audit/AuditRetention.ts"
import { CleanupRhythm } from "../cleanup/BackgroundCleanup.ts"
import { InstallPolicy } from "../configuration/InstallPolicy.ts"
import { OperatorConfigs } from "../configuration/OperatorConfigs.ts"
import { OAuthHelpers } from "../connection/OAuthHelpers.ts"
import { ReadHorizon } from "../database/ReadHorizon.ts"
import { ReadMemory } from "../database/ReadMemory.ts"
import { ReadSnapshot } from "../database/ReadSnapshot.ts"
import { RowChecks } from "../database/Table.ts"
import { EndpointPolicy } from "../delivery/EndpointPolicy.ts"
import { SkipDrainGrace } from "../execution/SkipDrainGrace.ts"
import { KeyGeneration } from "../identity/KeyGeneration.ts"
import { MailSettings } from "../mail/MailSettings.ts"
import { ProvisioningRules } from "../member/ProvisioningRules.ts"
import { ServerRelease } from "../pool/AgentVersions.ts"
import { IdOrder } from "../IdOrder.ts"
import { Readmission } from "../Readmission.ts"
import { Prices } from "../run/PriceTable.ts"
import { RetentionSettings } from "../run/RetentionSettings.ts"
import { RunPools } from "../run/RunPools.ts"
import { GuardCommand } from "../../runner/agent/guard/GuardCommand.ts"
import { ProvidedCredentials } from "../../runner/execution/ProvidedCredentials.ts"
import { RunnerSettings } from "../../runner/execution/RunnerSettings.ts"
import { AddressResolver } from "../../runner/git/AddressResolver.ts"
import { HttpProbe } from "../../runner/probe/HttpProbe.ts"
import { RedactionThreads } from "../../runner/redaction/Redaction.ts"
import { SandboxSettings } from "../../runner/sandbox/SandboxSettings.ts"
import { ConfinementCommand } from "../../runner/sandbox/confinement/ConfinementCommand.ts"
import { ParserThreads } from "../../runner/scan/HclParser.ts"
import { ScanLimits } from "../../runner/scan/ScanLimits.ts"
import { SyncExecutor } from "../../runner/snapshot/SyncExecutor.ts"
import { SyncProcessCommand } from "../../runner/snapshot/SyncProcessCommand.ts"
import { TransactionKey } from "../../runner/thread/OutsideTransaction.ts"
import { KnownTools } from "../../runner/toolchain/KnownTools.ts"

/** The references of actors and runner: their code reads them from the context in which it runs. A test finds missing ones. */
export const actorReferences: ReadonlyArray<Context.Key<unknown, unknown>> = [
  AddressResolver,
  AuditRetention,
  CleanupRhythm,
  ConfinementCommand,
  EndpointPolicy,
  ExtensionScopes,
  GuardCommand,
  HttpProbe,
  IdOrder,
  InstallPolicy,
  KeyGeneration,
  KillPoint,
  KnownTools,
  MailSettings,
  OAuthHelpers,
  OperatorConfigs,
  ParserThreads,
  Prices,
  ProvidedCredentials,
  ProvisioningRules,
  ReadHorizon,
  ReadMemory,
  ReadSnapshot,
  Readmission,
  RedactionThreads,
  RetentionSettings,
  RowChecks,
  RunPools,
  RunnerSettings,
  SandboxSettings,
  ScanLimits,
  ServerRelease,
  SkipDrainGrace,
  SyncExecutor,
  SyncProcessCommand,
  TransactionKey
]
