/** Below the graphs: the panels of the drawer, as tabs of which one is open. */
import { drawerTab, isDrawerOpen, openDrawer, toggleDrawer } from "../state/drawer";
import { kernelPage } from "../state/state";
import { Divider } from "../ui/Divider";
import { Icon } from "../ui/Icon";
import { TabText } from "../ui/TabText";
import { drawerPanels } from "./panels";

export function Drawer() {
  const open = isDrawerOpen.value;
  const shown = drawerPanels.find((panel) => panel.tab === drawerTab.value);
  return (
    <section class="drawer" data-region="Sources and problems" aria-label="Sources and problems">
      {open && (
        <Divider
          part="drawer"
          label="Height of the source drawer"
          class="top-edge"
          axis="y"
          grows={-1}
          min={120}
          max={900}
        />
      )}
      <div class="ph">
        <div class="tabs" role="tablist" aria-label="Drawer">
          {drawerPanels.map((panel) => {
            const is = open && panel === shown;
            const badge = panel.badge?.() ?? 0;
            return (
              <button
                type="button"
                class="tab"
                role="tab"
                key={panel.id}
                aria-selected={is}
                aria-expanded={is}
                onClick={() => (panel === shown ? toggleDrawer() : openDrawer(panel.tab))}
              >
                <TabText text={panel.title} />
                {badge > 0 && <span class="badge del num">{badge}</span>}
              </button>
            );
          })}
        </div>
        {drawerPanels.map(
          ({ id, tools: Tools, tab }) =>
            Tools && <Tools key={id} open={open && tab === drawerTab.value} />,
        )}
        <button
          type="button"
          class="btn sm ico quiet"
          aria-label={open ? "Close the drawer" : "Open the drawer"}
          title={`${open ? "Close" : "Open"} the drawer (S)`}
          onClick={() => toggleDrawer()}
        >
          <span class={open ? "" : "flip"}>
            <Icon name="down" />
          </span>
        </button>
      </div>
      {open && shown && kernelPage.value === null && <shown.component />}
    </section>
  );
}
