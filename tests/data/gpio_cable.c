/*
 * A GPIO chip whose lines are joined by cables: 0 to 1, 2 to 3. What one end is driven to, the other end reads, and an edge
 * interrupts. For tests/lab/test_lab_step_gpio.py: Debian's kernels lack gpio-sim.
 */
#include <linux/gpio/driver.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/irqdomain.h>
#include <linux/module.h>
#include <linux/platform_device.h>

enum { LINES = 4 };

static struct gpio_chip chip;
static struct irq_work edges[LINES];
static int levels[LINES];

static void tell_edge(struct irq_work *work)
{
	generic_handle_domain_irq(chip.irq.domain, work - edges);
}

static int get(struct gpio_chip *gc, unsigned int line)
{
	return levels[line];
}

static void set(struct gpio_chip *gc, unsigned int line, int level)
{
	const unsigned int other = line ^ 1;

	levels[line] = level;
	if (levels[other] != level) {
		levels[other] = level;
		irq_work_queue(&edges[other]);
	}
}

static int be_input(struct gpio_chip *gc, unsigned int line)
{
	return 0;
}

static int be_output(struct gpio_chip *gc, unsigned int line, int level)
{
	set(gc, line, level);
	return 0;
}

static void mask(struct irq_data *data)
{
	gpiochip_disable_irq(&chip, irqd_to_hwirq(data));
}

static void unmask(struct irq_data *data)
{
	gpiochip_enable_irq(&chip, irqd_to_hwirq(data));
}

static int set_type(struct irq_data *data, unsigned int type)
{
	return 0;
}

static const struct irq_chip interrupts = {
	.name = "cable",
	.irq_mask = mask,
	.irq_unmask = unmask,
	.irq_set_type = set_type,
	.flags = IRQCHIP_IMMUTABLE,
	GPIOCHIP_IRQ_RESOURCE_HELPERS,
};

static struct gpio_chip chip = {
	.label = "cable",
	.owner = THIS_MODULE,
	.base = -1,
	.ngpio = LINES,
	.get = get,
	.set = set,
	.direction_input = be_input,
	.direction_output = be_output,
};

static struct platform_device *device;

static int __init load(void)
{
	int error;

	device = platform_device_register_simple("gpio-cable", -1, NULL, 0);
	if (IS_ERR(device))
		return PTR_ERR(device);
	for (int i = 0; i < LINES; i++)
		edges[i] = IRQ_WORK_INIT_HARD(tell_edge);
	chip.parent = &device->dev;
	gpio_irq_chip_set_chip(&chip.irq, &interrupts);
	chip.irq.handler = handle_simple_irq;
	chip.irq.default_type = IRQ_TYPE_NONE;
	error = gpiochip_add_data(&chip, NULL);
	if (error)
		platform_device_unregister(device);
	return error;
}

static void __exit unload(void)
{
	gpiochip_remove(&chip);
	platform_device_unregister(device);
}

module_init(load);
module_exit(unload);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("GPIO lines that are joined by cables, for a test");
