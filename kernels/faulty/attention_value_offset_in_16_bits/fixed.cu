#include "../../common/attention_online.h"
