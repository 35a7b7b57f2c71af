/// <reference lib="dom" />
import { Button } from "./button.tsx";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Column, DataTable, type DataTableProps } from "./data_table.tsx";
import { Dialog } from "./dialog.tsx";
import { fieldLabel } from "./filter_fields.ts";
import { go } from "./location_state.ts";

/** How many rows the panel itself shows. */
const BREAKDOWN_ROWS = 8;

export interface Tab {
  readonly id: string;
  readonly label: string;
}

/** A tab for each field that figures may be split by; the operating system has a short name. */
export function fieldTabs(...fields: readonly string[]): readonly Tab[] {
  return fields.map((id) => ({ id, label: id === "os" ? "System" : fieldLabel(id) }));
}

interface TabsProps {
  readonly label: string;
  /** The parameter of the address that holds the choice. */
  readonly param: string;
  readonly tabs: readonly Tab[];
  readonly chosen: string;
}

/** Further tabs are in a list after the last one. */
const TABS_SHOWN_MAX = 5;

function MoreTabs({ tabs, chosen, onChoose }: Pick<TabsProps, "tabs" | "chosen"> & {
  readonly onChoose: (id: string) => void;
}) {
  const isOne = tabs.some(({ id }) => id === chosen);
  return (
    <select
      class={isOne ? "tab tab-more tab-more-chosen" : "tab tab-more"}
      aria-label="More"
      value={isOne ? chosen : ""}
      onChange={(event) => onChoose(event.currentTarget.value)}
    >
      {!isOne && <option value="">More</option>}
      {tabs.map(({ id, label }) => <option key={id} value={id}>{label}</option>)}
    </select>
  );
}

/** Ways to split the same figures, one of which is shown. The first one is not in the address. */
export function Tabs({ label, param, tabs, chosen }: TabsProps) {
  const choose = (id: string) => go({ params: { [param]: id === tabs[0]?.id ? null : id } });
  const more = tabs.slice(TABS_SHOWN_MAX);
  return (
    <div class="tabs" role="group" aria-label={label}>
      {tabs.slice(0, TABS_SHOWN_MAX).map(({ id, label }) => (
        <button
          key={id}
          type="button"
          class="tab"
          aria-pressed={id === chosen}
          onClick={() => choose(id)}
        >
          {label}
        </button>
      ))}
      {more.length > 0 && <MoreTabs tabs={more} chosen={chosen} onChoose={choose} />}
    </div>
  );
}

interface BreakdownProps<Row> extends DataTableProps<Row> {
  /** The columns of the panel; the details have those of `columns`. */
  readonly brief: readonly Column<Row>[];
  /** Shown above the table in the details. */
  readonly note?: ComponentChildren;
}

/** A table of the first rows, with a button that opens all of them with all columns. */
export function Breakdown<Row>({ brief, note, ...table }: BreakdownProps<Row>) {
  const [isOpen, setOpen] = useState(false);
  const { rows, columns, csvName, onMore, isLoadingMore, moreProblem, allRows, onRow, ...face } =
    table;
  const filter = onRow && ((row: Row) => {
    setOpen(false);
    onRow(row);
  });
  return (
    <div class="breakdown">
      <DataTable {...face} columns={brief} rows={rows.slice(0, BREAKDOWN_ROWS)} onRow={onRow} />
      <div class="breakdown-foot">
        <Button
          icon="expand"
          kind="quiet"
          aria-label={`Details: ${table.caption}`}
          onClick={() => setOpen(true)}
        >
          Details
        </Button>
      </div>
      {isOpen && (
        <Dialog title={table.caption} isWide onClose={() => setOpen(false)}>
          {note}
          <DataTable
            {...face}
            {...{ columns, rows, csvName, onMore, allRows }}
            isLoadingMore={isLoadingMore === true}
            moreProblem={moreProblem ?? null}
            isSortable
            onRow={filter}
          />
        </Dialog>
      )}
    </div>
  );
}
