/// <reference lib="dom" />
import { Button } from "../button.tsx";
import { useRef, useState } from "preact/hooks";
import { apiUrl, request, wholeBody } from "../api.ts";
import { commandText } from "../command.ts";
import { CopyButton } from "../copy_button.tsx";
import { SelectField, TextField } from "../field.tsx";
import { currentProject } from "../location_state.ts";
import { counted, integer } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import { Refused, useLostFocus, useRequest } from "../request_state.tsx";
import { FileDrop } from "./settings_import_drop.tsx";
import { Found } from "./settings_import_found.tsx";
import {
  FILE_BYTES_MAX,
  type FileImport,
  PRODUCTS,
  ZONED_PRODUCT,
} from "./settings_import_reply.ts";

const DEFINITION =
  "The events of another product, with their own ids: each is stored once, however often a file is sent. Before anything is stored, you see what would be.";
const RECOGNISED = "recognised";
const CHOICES = [{ value: RECOGNISED, label: "As the file says" }, ...PRODUCTS];

/** What is to be imported, and of which product. */
interface Wanted {
  readonly file: File;
  readonly from: string;
  readonly timeZone: string;
}

async function ask(projectId: string, wanted: Wanted, dryRun: boolean): Promise<FileImport> {
  const { file, from, timeZone } = wanted;
  const params = {
    name: file.name,
    from: from === RECOGNISED ? null : from,
    timeZone: timeZone === "" ? null : timeZone,
    dryRun: dryRun ? "true" : null,
  };
  const response = await request(apiUrl(`/v1/projects/${projectId}/import/file`, params), {
    method: "POST",
    headers: { "Content-Type": "application/octet-stream" },
    body: file,
  });
  return await wholeBody(response.json());
}

/** A word as a shell takes it. */
const quoted = (word: string) =>
  /^[\w.\-/]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** The command that imports what is too large for a page. */
function TooLarge({ projectId, file, from }: { projectId: string; file: File; from: string }) {
  const product = from === RECOGNISED ? "umami" : from;
  const command = commandText(
    `import --from ${product} ${quoted(file.name)} --project ${projectId}`,
  );
  return (
    <div class="settings-stack" role="status">
      <p>
        <strong>{file.name}</strong> has {integer(file.size / 1024 / 1024)}{" "}
        MiB; a page takes 10. Import it where the server runs:
      </p>
      <div class="settings-code">
        <pre class="code" tabIndex={0}>{command}</pre>
        <CopyButton text={command} />
      </div>
    </div>
  );
}

interface ChoiceProps {
  readonly wanted: Omit<Wanted, "file">;
  readonly onChange: (wanted: Partial<Wanted>) => void;
}

function ProductChoice({ wanted, onChange }: ChoiceProps) {
  return (
    <>
      <SelectField
        label="Product"
        value={wanted.from}
        choices={CHOICES}
        onChange={(from) => onChange({ from })}
      />
      {wanted.from === ZONED_PRODUCT && (
        <TextField
          label="Time zone of the export"
          value={wanted.timeZone}
          placeholder="UTC"
          hint="Projects of Mixpanel from before 2023 export times of their own zone, such as Europe/Berlin."
          onChange={(timeZone) => onChange({ timeZone })}
        />
      )}
    </>
  );
}

interface StepProps {
  readonly projectId: string;
  readonly wanted: Wanted;
  /** Whether the file is being stored. */
  readonly onStoring: (isStoring: boolean) => void;
  readonly onOver: () => void;
}

/** A dry run first; then, on request, the import. */
function Steps({ projectId, wanted, onStoring, onOver }: StepProps) {
  const [found, setFound] = useState<FileImport | null>(null);
  const looking = useRequest(async () => setFound(await ask(projectId, wanted, true)), {
    isOver: false,
  });
  const storing = useRequest(async () => {
    onStoring(true);
    try {
      setFound(await ask(projectId, wanted, false));
    } finally {
      onStoring(false);
    }
  }, { isOver: false });
  const isBusy = looking.isBusy || storing.isBusy;
  const problem = storing.problem ?? looking.problem;
  const isDone = found !== null && !found.dryRun;
  const summary = useRef<HTMLParagraphElement>(null);
  useLostFocus(() => summary.current, found);
  return (
    <>
      {found !== null && <Found found={found} summary={summary} />}
      <div class="settings-actions">
        {found === null && (
          <Button
            kind="primary"
            disabled={isBusy}
            onClick={() => void looking.run()}
          >
            {isBusy ? "Looking…" : `Look at ${wanted.file.name}`}
          </Button>
        )}
        {found?.dryRun && found.events > 0 && (
          <Button
            kind="primary"
            disabled={isBusy}
            onClick={() => void storing.run()}
          >
            {isBusy ? "Importing…" : `Import ${counted(found.events, "event")}`}
          </Button>
        )}
        <Button disabled={isBusy} onClick={onOver}>
          {isDone ? "Import another file" : "Choose another file"}
        </Button>
        <Refused problem={problem} />
      </div>
    </>
  );
}

function ImportPanel({ projectId }: { projectId: string }) {
  const [file, setFile] = useState<File | null>(null);
  const [choice, setChoice] = useState({ from: RECOGNISED, timeZone: "" });
  const [isStoring, setStoring] = useState(false);
  const form = useRef<HTMLDivElement>(null);
  useLostFocus(
    () => form.current?.querySelector<HTMLElement>("[type=file], .settings-actions button"),
    file,
  );
  const change = (changed: Partial<Wanted>) => setChoice({ ...choice, ...changed });
  return (
    <Panel title="Import from another product" definition={DEFINITION}>
      <div ref={form} class="settings-form">
        {file === null && <FileDrop onFile={setFile} />}
        {/* Another product starts over, which is not possible while a file is being stored. */}
        <fieldset style={{ display: "contents" }} disabled={isStoring}>
          <ProductChoice wanted={choice} onChange={change} />
        </fieldset>
        {file !== null && file.size > FILE_BYTES_MAX && (
          <>
            <TooLarge projectId={projectId} file={file} from={choice.from} />
            <div class="settings-actions">
              <Button onClick={() => setFile(null)}>Choose another file</Button>
            </div>
          </>
        )}
        {file !== null && file.size <= FILE_BYTES_MAX && (
          <Steps
            key={`${choice.from} ${choice.timeZone}`}
            projectId={projectId}
            wanted={{ file, ...choice }}
            onStoring={setStoring}
            onOver={() => setFile(null)}
          />
        )}
      </div>
    </Panel>
  );
}

/** Imports small files of other products. */
export function ImportSection() {
  const current = currentProject.value;
  return current === null
    ? <EmptyNote title="There is no project to import into" />
    : <ImportPanel key={current.id} projectId={current.id} />;
}
