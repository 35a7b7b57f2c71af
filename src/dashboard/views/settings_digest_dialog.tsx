/// <reference lib="dom" />
import { CheckList, Segments, TextField } from "../field.tsx";
import { fieldsOf, type FormPart } from "../form.tsx";
import { Button } from "../button.tsx";
import type { Filter } from "../location_query.ts";
import { useProjectChoices } from "../project_search.tsx";
import { FilterFields } from "./settings_filter_fields.tsx";
import { QuestionFields, SegmentField } from "./settings_question_fields.tsx";
import {
  NEW_QUESTION,
  type QuestionForm,
  questionForm,
  questionOf,
} from "./settings_question_form.ts";
import { NotificationDialog, type NotificationDialogOf } from "./settings_notification_dialog.tsx";
import { addressesOf, ReceiverFields, type ReceiverForm } from "./settings_notification_fields.tsx";
import type { Digest, Webhook } from "./settings_notification_replies.ts";

interface DigestForm extends ReceiverForm {
  readonly title: string;
  readonly every: string;
  readonly at: string;
  readonly timezone: string;
  readonly projects: readonly string[];
  readonly filters: readonly Filter[];
  /** Empty: everybody. */
  readonly segment: string;
  readonly questions: readonly QuestionForm[];
}

type PartProps = FormPart<DigestForm>;

const NEW: DigestForm = {
  title: "",
  every: "weekly",
  at: "08:00",
  timezone: "",
  to: "",
  webhooks: [],
  projects: [],
  filters: [],
  segment: "",
  questions: [],
};

const formOf = (digest: Digest): DigestForm => ({
  ...digest,
  timezone: digest.timezone ?? "",
  to: digest.to.join("\n"),
  segment: digest.segment ?? "",
  questions: digest.questions.map(questionForm),
});

const PERIODS = [
  { value: "daily", label: "Every day" },
  { value: "weekly", label: "Every Monday" },
  { value: "monthly", label: "Every month" },
];

function bodyOf(form: DigestForm) {
  const { title, every, at, timezone, to, webhooks, projects, filters, segment } = form;
  return {
    title,
    every,
    at,
    webhooks,
    projects,
    filters,
    timezone: timezone.trim() === "" ? null : timezone.trim(),
    to: addressesOf(to),
    segment: segment === "" ? null : segment,
    questions: form.questions.map(questionOf),
  };
}

interface ProjectsFieldProps {
  readonly chosen: readonly string[];
  readonly onChange: (projects: readonly string[]) => void;
}

/** The projects that it covers, if there are several. */
function ProjectsField({ chosen, onChange }: ProjectsFieldProps) {
  const { choices, search } = useProjectChoices(chosen);
  const others = chosen.filter((id) => !choices.some((each) => each.id === id));
  // One that the person may not see is removed only by its own box.
  const projects = [
    ...choices,
    ...others.map((id) => ({ id, name: `${id}, which you may not see` })),
  ];
  if (search === null && projects.length < 2) return null;
  return (
    <>
      {search}
      <CheckList
        legend="It covers"
        choices={projects.map(({ id, name }) => ({ value: id, label: name }))}
        hint="None: this project alone."
        {...{ chosen, onChange }}
      />
    </>
  );
}

function TimeFields(props: PartProps) {
  const { form, put } = props;
  const field = fieldsOf(props);
  return (
    <>
      <Segments
        label="How often"
        value={form.every}
        choices={PERIODS}
        onChange={(every) => put({ every })}
      />
      <div class="field-pair">
        <TextField
          label="At"
          {...field("at")}
          placeholder="08:00"
        />
        <TextField
          label="Time zone"
          {...field("timezone")}
          placeholder="This project's"
        />
      </div>
    </>
  );
}

/** What it reports beside the key figures: goals, funnels, events, vitals. */
function QuestionsField({ form: { questions }, problem, put }: PartProps) {
  return (
    <>
      {questions.map((question, i) => (
        <fieldset key={i} class="choice-list">
          <legend class="field-label">Figure {i + 1}</legend>
          <QuestionFields
            form={question}
            problem={problem}
            member={`questions.${i}`}
            put={(changes) => put({ questions: questions.with(i, { ...question, ...changes }) })}
          />
          <Button
            icon="close"
            kind="quiet"
            onClick={() => put({ questions: questions.filter((_, j) => j !== i) })}
          >
            Without figure {i + 1}
          </Button>
        </fieldset>
      ))}
      <Button
        icon="plus"
        kind="quiet"
        onClick={() => put({ questions: [...questions, NEW_QUESTION] })}
      >
        Another figure
      </Button>
    </>
  );
}

interface DigestDialogProps extends NotificationDialogOf<Digest> {
  readonly webhooks: readonly Webhook[];
}

/** The form of a digest. */
export function DigestDialog({ webhooks, ...dialog }: DigestDialogProps) {
  return (
    <NotificationDialog
      {...dialog}
      one="digest"
      start={dialog.of === null ? NEW : formOf(dialog.of)}
      bodyOf={bodyOf}
      example="The shop, every Monday"
      isWide
    >
      {(part) => {
        const { form, problem, put } = part;
        return (
          <>
            <TimeFields {...part} />
            <ReceiverFields {...part} webhooks={webhooks} />
            <ProjectsField chosen={form.projects} onChange={(projects) => put({ projects })} />
            <FilterFields
              filters={form.filters}
              error={problem?.messageFor("filters")}
              onChange={(filters) => put({ filters })}
            />
            <SegmentField
              {...fieldsOf(part)("segment")}
            />
            <QuestionsField {...part} />
          </>
        );
      }}
    </NotificationDialog>
  );
}
